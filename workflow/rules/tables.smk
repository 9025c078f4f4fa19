# Tables, and the comparison with the paper's printed numbers where there are any.


localrules:
    datasets,
    networks,
    hyperparameter,
    table,


rule hyperparameter:
    output:
        tex=report(
            "results/tables/hyperparameter.tex",
            caption="../report/hyperparameter.rst",
            category="Tables",
            labels={"table": "hyperparameter", "format": "LaTeX"},
        ),
        csv="results/tables/hyperparameter.csv",
        draws="results/hparams.csv",
    log:
        "logs/table/hyperparameter.log",
    benchmark:
        "results/benchmarks/table/hyperparameter.tsv"
    conda:
        "../../environment.yml"
    params:
        values=study.hparams_table().to_csv(index=False),
        code=modules_fingerprint("hyperparameters", "tables", "methods"),
        study=study_file,
        out=output_folder,
    shell:
        "tsdg hparams --params {params.study} --out {output.draws} --tables {params.out} > {log} 2>&1"


rule datasets:
    input:
        cards=expand("results/data/{dataset}/card.json", dataset=tabled_datasets()),
    output:
        about=report(
            "results/tables/datasets.tex",
            caption="../report/datasets.rst",
            category="Tables",
            labels={"table": "datasets", "format": "LaTeX"},
        ),
        about_csv="results/tables/datasets.csv",
        samples=report(
            "results/tables/datasets_samplesize.tex",
            caption="../report/datasets.rst",
            category="Tables",
            labels={"table": "datasets_samplesize", "format": "LaTeX"},
        ),
        samples_csv="results/tables/datasets_samplesize.csv",
    log:
        "logs/table/datasets.log",
    benchmark:
        "results/benchmarks/table/datasets.tsv"
    conda:
        "../../environment.yml"
    params:
        code=modules_fingerprint("datasets", "tables"),
        out=output_folder,
    shell:
        "tsdg datasets $(dirname {input.cards:q}) --out {params.out} > {log} 2>&1"


rule networks:
    output:
        tex=report(
            "results/tables/networks.tex",
            caption="../report/networks.rst",
            category="Tables",
            labels={"table": "networks", "format": "LaTeX"},
        ),
        tex_csv="results/tables/networks.csv",
    log:
        "logs/table/networks.log",
    benchmark:
        "results/benchmarks/table/networks.tsv"
    conda:
        "../../environment.yml"
    params:
        code=modules_fingerprint("architectures", "networks", "tables"),
        out=output_folder,
    shell:
        "tsdg networks --out {params.out} > {log} 2>&1"


rule table:
    input:
        selected="results/selected/{table}.csv",
    output:
        tex=report(
            "results/tables/{table}.tex",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}", "format": "LaTeX"},
        ),
        csv=report(
            "results/tables/{table}.csv",
            caption="../report/table.rst",
            category="Tables",
            labels={"table": "{table}", "format": "all numbers"},
        ),
    log:
        "logs/table/{table}.log",
    benchmark:
        "results/benchmarks/table/{table}.tsv"
    conda:
        "../../environment.yml"
    params:
        layout=table_layout,
        code=modules_fingerprint("tables"),
        study=study_file,
        out=output_folder,
    shell:
        "tsdg table {wildcards.table} --params {params.study} --selected {input.selected} --out {params.out}"
        " > {log} 2>&1"
