"""Placing layers on stages and choosing recomputation with an integer program."""
