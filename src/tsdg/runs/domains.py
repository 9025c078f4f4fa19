"""Whether the domains of a study are those of the data that were prepared for it."""

from pathlib import Path

from tsdg.data.windows import CARD, WindowedDataset
from tsdg.errors import InputError
from tsdg.study.study import Study


def check_domains(study: Study, dataset: str, prepared: WindowedDataset, folder: Path) -> None:
    """Raise `InputError` where a domain has one value of a metadata field in the study, another in the data.

    Groups that are held out and clusters are made by the study's. A field that only one of the two has is not
    compared.
    """
    for domain, metadata in study.dataset(dataset)["domains"].items():
        there = prepared.card["domains"].get(domain, {})
        for field, value in metadata.items():
            if there.get(field, value) != value:
                raise InputError(
                    f"datasets.{dataset}.domains.{domain}.{field}: is {value!r}, but {there[field]!r} in "
                    f"{folder / CARD}; correct the study, or prepare the data set again (a field of "
                    "one's own needs a name that the data do not have)"
                )
