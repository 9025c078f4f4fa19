# From raw recordings to tables and figures. `snakemake --cores 2` makes all of params.yaml's,
# `snakemake --cores 2 results/tables/bearings.tex` one of them.
from snakemake.utils import min_version

min_version("9.27")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/select.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/toy.smk"
include: "workflow/rules/summary.smk"


localrules:
    all,
    data,


rule all:
    default_target: True
    input:
        all_results,


rule data:
    input:
        expand("results/data/{dataset}/card.json", dataset=flow.at_hand),


logger.addFilter(shown)


onstart:
    for line in flow.without:
        print(line, file=sys.stderr)
    check_partitions()
    logger.addHandler(Failures())
    protect_records()
    # Snakemake would note the `gaps` of before this call as those of the finished output.
    workflow.persistence._params.cache_clear()


onerror:
    release(Path(RECORDS))
    print(after_failure(STUDY, unfinished_tables()), file=sys.stderr)


onsuccess:
    release(Path(RECORDS))
    if not flow.latex:
        print(
            "Without results/tables/all.pdf: there is no pdflatex (`tsdg pdf` says more)",
            file=sys.stderr,
        )
