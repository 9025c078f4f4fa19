# Tables, and the comparison with the paper's printed numbers where there are any.


localrules:
    document,
    networks,
    hyperparameter,
    pdf,
    table,


rule hyperparameter:
    output:
        tex="results/tables/hyperparameter.tex",
        html=report(
            "results/tables/hyperparameter.html",
            caption="../report/hyperparameter.rst",
            category=flow.section(WENT_IN),
            labels=table_labels("hyperparameter", WENT_IN),
        ),
        body="results/tables/hyperparameter.body.tex",
        csv="results/tables/hyperparameter.csv",
        augmentations="results/tables/augmentations.tex",
        augmentations_html=report(
            "results/tables/augmentations.html",
            caption="../report/augmentations.rst",
            category=flow.section(WENT_IN),
            labels=table_labels("augmentations", WENT_IN),
        ),
        augmentations_body="results/tables/augmentations.body.tex",
        augmentations_csv="results/tables/augmentations.csv",
        draws="results/hparams.csv",
    log:
        "logs/table/hyperparameter.log",
    benchmark:
        "results/benchmarks/table/hyperparameter.tsv"
    conda:
        "../../environment.yml"
    params:
        values=ask(flow.hparams),
        code=code("hyperparameter"),
        study=study_file,
        out=output_folder,
    shell:
        "tsdg hparams --params {params.study} --out {output.draws} --tables {params.out} > {log} 2>&1"


if flow.tabled_datasets:

    rule datasets:
        input:
            cards=expand("results/data/{dataset}/card.json", dataset=flow.tabled_datasets),
        output:
            about="results/tables/datasets.tex",
            about_html=report(
                "results/tables/datasets.html",
                caption="../report/datasets.rst",
                category=flow.section(WENT_IN),
                labels=table_labels("datasets", WENT_IN),
            ),
            about_body="results/tables/datasets.body.tex",
            about_csv="results/tables/datasets.csv",
            domains="results/tables/domain_attributes.tex",
            domains_html=report(
                "results/tables/domain_attributes.html",
                caption="../report/datasets.rst",
                category=flow.section(WENT_IN),
                labels=table_labels("domain_attributes", WENT_IN),
            ),
            domains_body="results/tables/domain_attributes.body.tex",
            domains_csv="results/tables/domain_attributes.csv",
            samples="results/tables/datasets_samplesize.tex",
            samples_html=report(
                "results/tables/datasets_samplesize.html",
                caption="../report/datasets.rst",
                category=flow.section(WENT_IN),
                labels=table_labels("datasets_samplesize", WENT_IN),
            ),
            samples_body="results/tables/datasets_samplesize.body.tex",
            samples_csv="results/tables/datasets_samplesize.csv",
        log:
            "logs/table/datasets.log",
        benchmark:
            "results/benchmarks/table/datasets.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            code=code("datasets"),
            gaps=gaps(expand("results/data/{dataset}/card.json", dataset=flow.tabled_datasets)),
            out=output_folder,
        shell:
            "tsdg datasets $(dirname {input.cards:q}) --out {params.out} > {log} 2>&1"


rule networks:
    output:
        tex="results/tables/networks.tex",
        html=report(
            "results/tables/networks.html",
            caption="../report/networks.rst",
            category=flow.section(WENT_IN),
            labels=table_labels("networks", WENT_IN),
        ),
        body="results/tables/networks.body.tex",
        csv="results/tables/networks.csv",
    log:
        "logs/table/networks.log",
    benchmark:
        "results/benchmarks/table/networks.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("networks"),
        out=output_folder,
    shell:
        "tsdg networks --out {params.out} > {log} 2>&1"


rule table:
    input:
        selected="results/selected/{table}.csv",
    output:
        tex="results/tables/{table}.tex",
        html=report(
            "results/tables/{table}.html",
            caption="../report/table.rst",
            category=flow.section(RESULTS),
            labels=labels_of_table,
        ),
        body="results/tables/{table}.body.tex",
        csv="results/tables/{table}.csv",
    log:
        "logs/table/{table}.log",
    benchmark:
        "results/benchmarks/table/{table}.tsv"
    conda:
        "../../environment.yml"
    params:
        layout=ask(flow.table_layout),
        code=code("table"),
        gaps=gaps("results/selected/{table}.csv"),
        study=study_file,
        out=output_folder,
    shell:
        "tsdg table {wildcards.table} --params {params.study} --selected {input.selected} --runs results/runs"
        " --out {params.out} > {log} 2>&1"


rule document:
    input:
        tables=expand("results/tables/{name}.tex", name=flow.documented),
    output:
        tex="results/tables/all.tex",
    log:
        "logs/table/all.log",
    benchmark:
        "results/benchmarks/table/all.tsv"
    conda:
        "../../environment.yml"
    params:
        names=flow.documented,
        code=code("document"),
        gaps=gaps(expand("results/tables/{name}.tex", name=flow.documented)),
        out=output_folder,
    shell:
        "tsdg document {params.names} --out {params.out} > {log} 2>&1"


# Part of `all` where there is pdflatex; without it, the command says what to install.
rule pdf:
    input:
        tex="results/tables/all.tex",
    output:
        pdf=report(
            "results/tables/all.pdf",
            caption="../report/document.rst",
            category=flow.section(RESULTS),
            labels=table_labels("all"),
        ),
    log:
        "logs/table/pdf.log",
    benchmark:
        "results/benchmarks/table/pdf.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("pdf"),
        gaps=gaps("results/tables/all.tex"),
    shell:
        "tsdg pdf {input.tex} > {log} 2>&1"
