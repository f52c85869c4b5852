"""Plans and results in the words of other tools, both ways where the format allows."""
