# Training: a record for each run. `runs_per_job: 1` has one rule; a greater number one rule for each shape of
# pack, which differ in their output alone, so that changing the number trains nothing again.

for job in flow.training_rules:

    rule:
        name:
            job.name
        input:
            card=ask(flow.card),
        output:
            records=[f"{RECORDS}/{path}" for path in job.records],
        log:
            f"{LOGS}/{job.log}.log",
        benchmark:
            f"results/benchmarks/train/{job.log}.tsv"
        wildcard_constraints:
            dataset=either(job.datasets),
            variant=either(job.variants),
            target=r"[^/]+",
            draw=r"fixed|hp\d+",
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=training_memory,
            runtime=training_minutes,
            gpu=ask(flow.gpus),
        params:
            identity=told(flow.identity_of(job)),
            code=ask(flow.training_code),
            gaps=gaps(ask(flow.card)),
            study=study_file,
            data=input_folder,
            runs=runs_of,
        shell:
            "tsdg train --params {params.study} --data {params.data} --dataset {wildcards.dataset}"
            " --variant {wildcards.variant} {params.runs} --out results/runs --keep --threads {threads} > {log}"
            " 2>&1"
