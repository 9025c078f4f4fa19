"""Trainings and their records."""
