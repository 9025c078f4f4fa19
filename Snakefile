# The workflow, for `snakemake` in this folder.
include: "workflow/Snakefile"


workflow.default_target = "all"  # an included file has none
