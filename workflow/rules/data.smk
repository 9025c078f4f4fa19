# Raw recordings, fetched or simulated, and the windowed data sets made from them.


# The official recordings that are not in the folder yet. What is complete waits in a folder of its own, so
# that an interrupted download goes on where it was.
for folder, numbers in missing_recordings().items():

    rule:
        name:
            f"fetch_{slug(folder)}"
        output:
            recordings=expand("{folder}/{number}.mat", folder=folder, number=numbers),
        log:
            f"logs/fetch/{slug(folder)}.log",
        benchmark:
            f"results/benchmarks/fetch/{slug(folder)}.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            partial=f"{folder}/.partial",
            numbers=",".join(map(str, numbers)),
        shell:
            "(tsdg fetch bearings --out {params.partial:q} --numbers {params.numbers}"
            " && mv -n {params.partial:q}/*.mat {params.partial:q}/.."
            " && rm -r {params.partial:q}) > {log} 2>&1"


for dataset in simulated_datasets():

    rule:
        name:
            f"simulate_{dataset}"
        output:
            recordings=expand(
                "data/simulated/{dataset}/{number}.mat", dataset=dataset, number=recordings(dataset)
            ),
        log:
            f"logs/simulate/{dataset}.log",
        benchmark:
            f"results/benchmarks/simulate/{dataset}.tsv"
        conda:
            "../../environment.yml"
        params:
            folder=output_folder,
            options=simulate_options(dataset),
            code=modules_fingerprint("data.simulate"),
        shell:
            "tsdg simulate bearings --out {params.folder} {params.options} > {log} 2>&1"


# The card is all that training depends on: it is small and holds the hashes of the rest.
rule prepare_bearings:
    input:
        recordings=raw_files,
    output:
        card="results/data/{dataset}/card.json",
        signals="results/data/{dataset}/signals.npy",
        windows="results/data/{dataset}/windows.parquet",
    log:
        "logs/prepare/{dataset}.log",
    benchmark:
        "results/benchmarks/prepare/{dataset}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=2000,
        runtime=30,
    params:
        raw=input_folder,
        out=output_folder,
        options=prepare_options,
        code=modules_fingerprint("data.bearings", "data.windows"),
    shell:
        "tsdg prepare bearings --raw {params.raw:q} --out {params.out} {params.options} > {log} 2>&1"
