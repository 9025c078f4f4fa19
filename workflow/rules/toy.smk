# The toy study: trainings on data made as they start, tables and figures. Nothing here if params.yaml has no `toy`.


if "toy" in study.params:
    TOY_RECORDS = [f"results/runs/{run_path(run)}" for run in study.toy_runs()]
    TOY_RESULTS = {
        "table": TOY_TABLES,
        "figure": TOY_FIGURES,
    }
    TOY_SUFFIXES = {"table": ["tex", "csv"], "figure": ["png", "pdf"]}

    def toy_identity(wildcards):
        """What of the study decides a variant's toy results."""
        config = {**study.toy_config(wildcards.variant), "protocol": None}
        return json.dumps([config, study.toy_hparams(wildcards.variant)], sort_keys=True)

    def toy_code(wildcards):
        """Fingerprint of the code behind a variant's toy trainings."""
        return code_fingerprint(study.toy["variants"][wildcards.variant]["method"], "toy.train")

    def toy_seeds(wildcards, output):
        """The seeds of a job, from its output."""
        return [parse_run_path(path).seed for path in output]

    def toy_layout(wildcards):
        """All that decides how the toy tables and figures look, but the records."""
        labels = {name: row["label"] for name, row in study.toy["variants"].items()}
        return json.dumps({**study.toy, "variants": labels}, sort_keys=True)

    # Blocks that begin at the same seeds whatever their number, so that more seeds leave what there is as it is.
    for first in range(0, study.toy["seeds"], TOY_BLOCK):

        rule:
            name:
                f"toy_train_{first}"
            output:
                records=expand(
                    "results/runs/toy/{{variant}}/D/seed{seed}/fixed.json",
                    seed=range(first, min(first + TOY_BLOCK, study.toy["seeds"])),
                ),
            log:
                f"logs/train/toy/{{variant}}/seed{first}.log",
            benchmark:
                f"results/benchmarks/train/toy/{{variant}}/seed{first}.tsv"
            wildcard_constraints:
                variant="|".join(study.toy["variants"]),
            conda:
                "../../environment.yml"
            threads: 1
            resources:
                mem_mb=2000,
                runtime=60,
            params:
                identity=toy_identity,
                code=toy_code,
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
