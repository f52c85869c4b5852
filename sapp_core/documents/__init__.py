"""Text of JSON and YAML files to plain values and checked fields: for profiles, settings and plans alike."""
