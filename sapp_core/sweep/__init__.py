"""Many scenarios at once: a grid of them, worked on by processes of this machine or by a Dask cluster."""
