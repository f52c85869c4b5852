"""Schedule and costs to times, memory over time and bubbles."""
