# Figures, from the same selected runs as the tables.


localrules:
    figure,


rule figure:
    input:
        selected="results/selected/{table}.csv",
    output:
        png=report(
            "results/figures/{table}.png",
            caption="../report/figure.rst",
            category="Figures",
            labels={"figure": "accuracy by target", "table": "{table}"},
        ),
        pdf="results/figures/{table}.pdf",
    log:
        "logs/figure/{table}.log",
    benchmark:
        "results/benchmarks/figure/{table}.tsv"
    conda:
        "../../environment.yml"
    params:
        layout=figure_layout,
        code=modules_fingerprint("figures", "tables"),
        study=study_file,
        out=output_folder,
    shell:
        "tsdg figure {wildcards.table} --params {params.study} --selected {input.selected} --out {params.out}"
        " > {log} 2>&1"
