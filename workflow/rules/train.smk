# Training: a record for each run. `runs_per_job: 1` has one rule; a greater number one rule for each shape of
# pack, which differ in their output alone, so that changing the number trains nothing again.

for job in training_rules(study):
    if job.datasets == ("toy",):
        continue

    rule:
        name:
            job.name
        input:
            card=prepared_card,
        output:
            records=[f"{RECORDS}/{path}" for path in job.records],
        log:
            f"{LOGS}/{job.log}.log",
        benchmark:
            f"results/benchmarks/train/{job.log}.tsv"
        wildcard_constraints:
            dataset="|".join(job.datasets),
            variant="|".join(job.variants),
            target=r"[^/]+",
            draw=r"fixed|hp\d+",
        conda:
            "../../environment.yml"
        threads: 1
        resources:
            mem_mb=training_memory,
            runtime=training_minutes,
            gpu=GPUS,
        params:
            identity=training_identity,
            code=training_code,
            study=study_file,
            data=input_folder,
            runs=training_runs,
        shell:
            "tsdg train --params {params.study} --data {params.data} --dataset {wildcards.dataset}"
            " --variant {wildcards.variant} {params.runs} --out results/runs --threads {threads} > {log} 2>&1"
