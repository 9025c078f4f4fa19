# From raw recordings to tables and figures. `snakemake --cores 2` makes all of params.yaml's,
# `snakemake --cores 2 results/tables/bearings.tex` one of them.
from snakemake.utils import min_version

min_version("9.27")


configfile: "params.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/train.smk"
include: "workflow/rules/select.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/toy.smk"


localrules:
    all,
    data,


rule all:
    default_target: True
    input:
        "results/tables/hyperparameter.tex",
        expand("results/tables/{table}.tex", table=study.tables),
        expand("results/figures/{table}.png", table=study.tables),
        toy_results(),


rule data:
    input:
        expand("results/data/{dataset}/card.json", dataset=study.datasets),
