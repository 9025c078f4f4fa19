"""Classes that no source has where a target is held out: nothing teaches them."""

from pathlib import Path

from tsdg.data.describe import untaught
from tsdg.data.windows import CARD, card_of
from tsdg.study.study import Study


def of_table(study: Study, table: str, data: Path) -> dict[tuple[str, str], str]:
    """Their names, as one text, by data set and target of a table, of the data sets that are prepared.

    Raises
    ------
    InputError
        The card of a prepared data set is damaged.
    """
    found = {}
    for panel in study.panels(table):
        folder = data / study.prepared(panel.dataset)
        if not (folder / CARD).exists():
            continue
        card = card_of(folder, ["classes", "counts"])
        domains = study.dataset(panel.dataset)["domains"]
        for target in panel.targets:
            held_out = study.target(panel.dataset, target).domains
            names = untaught(card, [domain for domain in domains if domain not in held_out])
            found[panel.dataset, target] = ", ".join(names)
    return found
