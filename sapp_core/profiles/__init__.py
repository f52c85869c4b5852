"""Text to `ModelProfile`."""
