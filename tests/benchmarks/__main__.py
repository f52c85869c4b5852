"""All measurements, one table after the other: `make bench`. They take about half an hour; run them on a quiet machine."""

from tests.benchmarks import balance, engine, hostile, page, schedules, timeline, traces, visitors


def main() -> None:
    """Print them."""
    for title, measure in (
        ("Engine", engine.main),
        ("All schedules", schedules.main),
        ("Exact balancer", balance.main),
        ("Traces", traces.main),
        ("Page in Chromium", page.main),
        ("Timelines in Chromium", timeline.main),
        ("Many visitors", visitors.main),
        ("Hostile uploads", hostile.main),
    ):
        print(f"\n## {title}\n", flush=True)
        measure()


if __name__ == "__main__":
    main()
