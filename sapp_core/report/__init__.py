"""A plan as one HTML file for a design review: no network, no server, readable on paper."""
