"""MIMIC-III: patients in intensive care."""
