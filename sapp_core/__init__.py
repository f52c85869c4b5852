"""Core of the SAPP pipeline dashboard: profiles, schedules, simulation, balancing, charts. Works without Streamlit."""
