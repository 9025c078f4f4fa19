# The toy study: trainings on data made as they start, tables and figures. Nothing here if params.yaml has no `toy`.

for job in flow.toy_rules:

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
            dataset=either(job.datasets),
            variant=either(job.variants),
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=2000,
            runtime=60,
        params:
            identity=told(flow.identity_of(job)),
            code=ask(flow.training_code),
            study=study_file,
            seeds=seeds_of,
        shell:
            "tsdg toy train --params {params.study} --variant {wildcards.variant} --seed {params.seeds}"
            " --out results/runs --keep > {log} 2>&1"


for result in flow.toy_results:

    rule:
        name:
            result.name
        input:
            records=result.records,
        output:
            report(
                result.paths[0],
                caption="../report/toy.rst",
                category=flow.section(TOY),
                labels=toy_labels(result.name),
            ),
            result.paths[1:],
        log:
            f"logs/{result.kind}/{result.name}.log",
        benchmark:
            f"results/benchmarks/{result.kind}/{result.name}.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            layout=ask(flow.toy_layout),
            code=code("toy"),
            gaps=gaps(result.records),
            study=study_file,
            kind=result.kind,
            name=result.name,
            out=output_folder,
        shell:
            "tsdg toy {params.kind} {params.name} --params {params.study} --out {params.out} > {log} 2>&1"
