"""What params.yaml asks for."""
