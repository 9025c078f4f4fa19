# Model selection, from records alone. The command finds the records itself: they are too many for a command line.


localrules:
    select,


rule select:
    input:
        records=ask(flow.table_records),
    output:
        selected="results/selected/{table}.csv",
    log:
        "logs/select/{table}.log",
    benchmark:
        "results/benchmarks/select/{table}.tsv"
    conda:
        "../../environment.yml"
    params:
        code=code("select"),
        gaps=gaps(ask(flow.table_records)),
        settings=ask(flow.table_settings),
        study=study_file,
    shell:
        "tsdg select {wildcards.table} --params {params.study} --runs results/runs --out {output.selected} > {log} 2>&1"
