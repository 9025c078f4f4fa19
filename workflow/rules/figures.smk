# Figures, from the same selected runs as the tables, and the ranking over several tables.


localrules:
    accuracy,
    figure,


# Each table has a figure of its name, if none under `figures` takes its place.
rule accuracy:
    input:
        selected="results/selected/{table}.csv",
    output:
        png=report(
            "results/figures/{table}.png",
            caption="../report/accuracy.rst",
            category=flow.section(FIGURES),
            labels=labels_of_accuracy,
        ),
        pdf="results/figures/{table}.pdf",
    log:
        "logs/figure/{table}.log",
    benchmark:
        "results/benchmarks/figure/{table}.tsv"
    wildcard_constraints:
        table=either(flow.accuracy_tables),
    conda:
        "../../environment.yml"
    params:
        layout=ask(flow.accuracy_layout),
        code=code("accuracy"),
        gaps=gaps("results/selected/{table}.csv"),
        study=study_file,
        out=output_folder,
    shell:
        "tsdg figure {wildcards.table} --params {params.study} --selected {input.selected} --out {params.out}"
        " > {log} 2>&1"


# Those under `figures` in params.yaml. They read the records behind the selected runs.
rule figure:
    input:
        selected=figure_inputs,
    output:
        png=report(
            "results/figures/{figure}.png",
            caption="../report/figure.rst",
            category=flow.section(FIGURES),
            labels=labels_of_figure,
        ),
        pdf="results/figures/{figure}.pdf",
    log:
        "logs/figure/{figure}.log",
    benchmark:
        "results/benchmarks/figure/{figure}.tsv"
    conda:
        "../../environment.yml"
    params:
        layout=ask(flow.figure_layout),
        code=ask(flow.figure_code),
        gaps=gaps(figure_inputs),
        caption=figure_caption,
        study=study_file,
        out=output_folder,
    shell:
        "tsdg figure {wildcards.figure} --params {params.study} --selected {input.selected} --runs results/runs"
        " --out {params.out} > {log} 2>&1"


if flow.ranked_tables:

    rule ranking:
        input:
            selected=selected(flow.ranked_tables),
        output:
            tex="results/tables/ranking.tex",
            html=report(
                "results/tables/ranking.html",
                caption="../report/ranking.rst",
                category=flow.section(RESULTS),
                labels=table_labels("ranking"),
            ),
            body="results/tables/ranking.body.tex",
            csv="results/tables/ranking.csv",
            next_domain="results/tables/next_domain.tex",
            next_domain_html=report(
                "results/tables/next_domain.html",
                caption="../report/next_domain.rst",
                category=flow.section(RESULTS),
                labels=table_labels("next_domain"),
            ),
            next_domain_body="results/tables/next_domain.body.tex",
            next_domain_csv="results/tables/next_domain.csv",
            png=report(
                "results/figures/critical_difference.png",
                caption="../report/critical_difference.rst",
                category=flow.section(FIGURES),
                labels=figure_labels("critical_difference"),
            ),
            pdf="results/figures/critical_difference.pdf",
        log:
            "logs/table/ranking.log",
        benchmark:
            "results/benchmarks/table/ranking.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            layout=ask(flow.ranking_layout),
            code=code("ranking"),
            gaps=gaps(selected(flow.ranked_tables)),
            study=study_file,
        shell:
            "tsdg ranking --params {params.study} --selected {input.selected} --out results > {log} 2>&1"


if "claims" in flow.documented:

    rule claims:
        input:
            selected=selected(flow.claimed_tables),
            records=flow.claimed_toy_records,
        output:
            tex="results/tables/claims.tex",
            html=report(
                "results/tables/claims.html",
                caption="../report/claims.rst",
                category=flow.section(RESULTS),
                labels=table_labels("claims"),
            ),
            body="results/tables/claims.body.tex",
            csv="results/tables/claims.csv",
            md="results/tables/claims.md",
        log:
            "logs/table/claims.log",
        benchmark:
            "results/benchmarks/table/claims.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            layout=ask(flow.claims_layout),
            code=code("claims"),
            gaps=gaps(selected(flow.claimed_tables) + flow.claimed_toy_records),
            study=study_file,
            out=output_folder,
        shell:
            "tsdg claims --params {params.study} --selected {input.selected} --runs results/runs"
            " --out {params.out} > {log} 2>&1"
