"""HHAR: phones carried by people."""
