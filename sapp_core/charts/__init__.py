"""Results to plotly figures."""
