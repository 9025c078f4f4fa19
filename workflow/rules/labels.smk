"""How the report lists what it shows: it sorts by labels, so that the first of them is a number."""


def table_labels(name, section=RESULTS):
    """How the report lists a table."""
    return {"no": flow.number(name, section), "table": name}


def labels_of_table(wildcards):
    """How the report lists a table of params.yaml."""
    return table_labels(wildcards.table)


def figure_labels(name):
    """How the report lists a figure."""
    return {"no": flow.number(name, FIGURES), "figure": name}


def toy_labels(name):
    """How the report lists a table or figure of the toy study."""
    return {"no": flow.number(name, TOY), "result": name.replace("_", " ")}


def labels_of_figure(wildcards):
    """How the report lists a figure of params.yaml."""
    return figure_labels(wildcards.figure)


def labels_of_accuracy(wildcards):
    """How the report lists a table's figure."""
    return figure_labels(wildcards.table) | {"figure": f"{wildcards.table}, by target"}
