# Tables, and the comparison with the paper's printed numbers where there are any.


localrules:
    table,


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
