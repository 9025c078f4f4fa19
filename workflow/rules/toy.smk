# The toy study: trainings on data made as they start, tables and figures. Nothing here if params.yaml has no `toy`.


if "toy" in study.params:
    TOY_RECORDS = [f"{RECORDS}/{run_path(run)}" for run in study.table_runs("toy")]
    TOY_RESULTS = {
        "table": TOY_TABLES,
        "figure": TOY_FIGURES,
    }
    TOY_SUFFIXES = {"table": ["tex", "csv"], "figure": ["png", "pdf"]}

    def toy_seeds(wildcards, output):
        """The seeds of a job, from its output."""
        return [parse_run_path(path).seed for path in output]

    def toy_layout(wildcards):
        """All that decides how the toy tables and figures look, but the records."""
        labels = {name: row["label"] for name, row in study.toy["variants"].items()}
        return json.dumps({**study.toy, "variants": labels}, sort_keys=True)

    for job in training_rules(study):
        if job.datasets != ("toy",):
            continue

        rule:
            name:
                job.name
            output:
                records=[f"{RECORDS}/{path}" for path in job.records],
            log:
                f"{LOGS}/{job.log}.log",
            benchmark:
                f"results/benchmarks/train/{job.log}.tsv"
            wildcard_constraints:
                dataset="toy",
                variant="|".join(job.variants),
            conda:
                "../../environment.yml"
            threads: 1
            resources:
                mem_mb=2000,
                runtime=60,
            params:
                identity=training_identity,
                code=training_code,
                study=study_file,
                seeds=toy_seeds,
            shell:
                "tsdg toy train --params {params.study} --variant {wildcards.variant} --seed {params.seeds}"
                " --out results/runs > {log} 2>&1"

    for kind, names in TOY_RESULTS.items():
        for name in names:

            rule:
                name:
                    name
                input:
                    records=[] if name in ("toy_attributes", "toy_dataset") else TOY_RECORDS,
                output:
                    report(
                        f"results/{kind}s/{name}.{TOY_SUFFIXES[kind][0]}",
                        caption="../report/toy.rst",
                        category="3 Toy study",
                        labels={"result": name.replace("_", " ")},
                    ),
                    f"results/{kind}s/{name}.{TOY_SUFFIXES[kind][1]}",
                log:
                    f"logs/{kind}/{name}.log",
                benchmark:
                    f"results/benchmarks/{kind}/{name}.tsv"
                localrule: True
                conda:
                    "../../environment.yml"
                params:
                    layout=toy_layout,
                    code=modules_fingerprint("toy.tables", "toy.figures"),
                    study=study_file,
                    kind=kind,
                    name=name,
                    out=output_folder,
                shell:
                    "tsdg toy {params.kind} {params.name} --params {params.study} --out {params.out} > {log} 2>&1"


def toy_results():
    """What the toy study makes."""
    if "toy" not in study.params:
        return []
    return [
        f"results/{kind}s/{name}.{TOY_SUFFIXES[kind][0]}"
        for kind, names in TOY_RESULTS.items()
        for name in names
    ]
