"""What pages share: scenario, controls, cached calls, jobs, charts on the page."""
