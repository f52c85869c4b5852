"""Pipeline schedules: the order of work on every stage, one file a family."""
