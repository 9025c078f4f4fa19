"""HAPT: people with a phone at the waist."""
