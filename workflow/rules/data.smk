# Raw recordings, fetched or simulated, and the windowed data sets made from them.


# The official files that are not in the folder yet. What is complete waits in a folder of its own, so that an
# interrupted download goes on where it was. MIMIC-III's cannot be fetched: the command says how to get them.
for fetch in fetches():

    rule:
        name:
            f"fetch_{fetch.kind}_{slug(fetch.folder)}"
        output:
            raw=fetch.paths,
        log:
            f"logs/fetch/{slug(fetch.folder)}.log",
        benchmark:
            f"results/benchmarks/fetch/{slug(fetch.folder)}.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            kind=fetch.kind,
            partial=output_folder if KINDS[fetch.kind].credentials else f"{fetch.folder}/.partial",
            options=fetch_options(fetch),
        shell:
            "(tsdg fetch {params.kind} --out {params.partial:q} {params.options}"
            " && mv -n {params.partial:q}/* {params.partial:q}/.."
            " && rm -r {params.partial:q}) > {log} 2>&1"


for dataset in simulated_datasets():

    rule:
        name:
            f"simulate_{dataset}"
        output:
            raw=raw_paths(dataset),
        log:
            f"logs/simulate/{dataset}.log",
        benchmark:
            f"results/benchmarks/simulate/{dataset}.tsv"
        conda:
            "../../environment.yml"
        params:
            kind=study.dataset(dataset)["kind"],
            folder=output_folder,
            options=simulate_options(dataset),
            code=simulate_code(dataset),
        shell:
            "tsdg simulate {params.kind} --out {params.folder} {params.options} > {log} 2>&1"


# The card is all that training depends on: it is small and holds the hashes of the rest.
rule prepare:
    input:
        raw=raw_inputs,
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
        mem_mb=prepare_memory,
        runtime=prepare_minutes,
    params:
        kind=kind_of,
        raw=raw_argument,
        out=output_folder,
        options=prepare_options,
        code=prepare_code,
    shell:
        "tsdg prepare {params.kind} --raw {params.raw:q} --out {params.out} {params.options} > {log} 2>&1"
