"""What is made of every study, under names that a table or figure of params.yaml cannot take."""

DATASET_TABLES = ("datasets", "domain_attributes", "datasets_samplesize")  # from their cards
DATA_TABLES = (*DATASET_TABLES, "augmentations", "networks", "hyperparameter")
TOY_TABLES = ("toy_attributes", "target_risk", "target_risk_full")
TOY_FIGURES = ("toy_dataset", "divergence_vs_risk")
RANKINGS = ("ranking", "next_domain")
TAKEN = ("all", "toy", *RANKINGS, "claims", "critical_difference", *DATA_TABLES, *TOY_TABLES, *TOY_FIGURES)
