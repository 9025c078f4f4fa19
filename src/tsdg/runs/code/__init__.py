"""What Python code says, read without running it."""
