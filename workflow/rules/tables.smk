# Tables, and the comparison with the paper's printed numbers where there are any.


localrules:
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
