# The averages of all tables as metrics, which `dvc metrics` and `dvc plots` show.


localrules:
    summary,


rule summary:
    input:
        selected=selected(flow.tables_at_hand),
    output:
        json="results/metrics.json",
        csv="results/metrics.csv",
    log:
        "logs/summary.log",
    benchmark:
        "results/benchmarks/summary.tsv"
    conda:
        "../../environment.yml"
    params:
        layouts=ask(flow.summary_layouts),
        code=code("summary"),
        gaps=gaps(selected(flow.tables_at_hand)),
        tables=flow.tables_at_hand,
        study=study_file,
        out=output_folder,
    shell:
        "tsdg summary {params.tables} --params {params.study} --out {params.out} > {log} 2>&1"
