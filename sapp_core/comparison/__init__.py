"""Several answered scenarios against each other: what can be subtracted, in numbers, words and tables."""
