# Raw recordings, fetched or simulated, and the windowed data sets made from them.


# The official files that are not in the folder yet. What is complete waits in a folder of its own, so that an
# interrupted download goes on where it was. MIMIC-III's cannot be fetched: the command says how to get them.
for fetch in flow.fetches:

    rule:
        name:
            f"fetch_{fetch.kind}_{fetch.name}"
        output:
            raw=fetch.paths,
        log:
            f"logs/fetch/{fetch.name}.log",
        benchmark:
            f"results/benchmarks/fetch/{fetch.name}.tsv"
        localrule: True
        conda:
            "../../environment.yml"
        params:
            kind=fetch.kind,
            partial=fetch.into or output_folder,
            options=fetch.options,
        shell:
            "(tsdg fetch {params.kind} --out {params.partial:q} {params.options}"
            " && mv -n {params.partial:q}/* {params.partial:q}/.."
            " && rm -r {params.partial:q}) > {log} 2>&1"


for dataset in flow.simulated:

    rule:
        name:
            f"simulate_{dataset}"
        output:
            raw=flow.raw_paths(dataset),
        log:
            f"logs/simulate/{dataset}.log",
        benchmark:
            f"results/benchmarks/simulate/{dataset}.tsv"
        conda:
            "../../environment.yml"
        params:
            kind=flow.kind(dataset),
            folder=output_folder,
            options=flow.simulate_options(dataset),
            code=flow.simulate_code(dataset),
        shell:
            "tsdg simulate {params.kind} --out {params.folder} {params.options} > {log} 2>&1"


# The card is all that training depends on: it is small and holds the hashes of the rest.
rule prepare:
    input:
        raw=raw_files,
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
        mem_mb=ask(flow.prepare_memory),
        runtime=ask(flow.prepare_minutes),
    params:
        kind=ask(flow.kind),
        raw=raw_argument,
        out=output_folder,
        options=ask(flow.prepare_options),
        code=ask(flow.prepare_code),
        content=ask(flow.raw_content),
    shell:
        "tsdg prepare {params.kind} --raw {params.raw:q} --out {params.out} {params.options} > {log} 2>&1"
