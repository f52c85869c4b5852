"""The words of the project as frozen types: standard library only, no input or output."""
