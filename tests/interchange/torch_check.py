"""What a real PyTorch says about a schedule's CSV; imported only where torch is installed."""

import csv
import tempfile
from pathlib import Path

from torch.distributed.pipelining import schedules as torch_schedules

from sapp_core.domain.pipeline import Pipeline


def check(text: str, pipeline: Pipeline) -> None:
    """Load it with torch's own loader and let torch validate and simulate it; raises what torch raises."""
    rank_of = {
        pipeline.virtual_stage(chunk, stage): stage
        for chunk in range(pipeline.num_chunks)
        for stage in range(pipeline.num_stages)
    }
    rows = list(csv.reader(text.splitlines()))
    actions = {rank: [torch_schedules._Action.from_str(word) for word in row] for rank, row in enumerate(rows)}
    torch_schedules._validate_schedule(
        actions, pipeline.num_stages, pipeline.num_virtual_stages, pipeline.num_micro_batches
    )
    loaded = _loaded(text, rank_of)
    assert {rank: [str(action) for action in order if action] for rank, order in loaded.items()} == {
        rank: [str(action) for action in order] for rank, order in actions.items()
    }
    if "OVERLAP" in text:
        return  # torch's simulation of transfers does not know overlapped actions
    with_transfers = torch_schedules._add_send_recv(
        actions, stage_to_rank=rank_of.__getitem__, num_stages=pipeline.num_virtual_stages
    )
    torch_schedules._simulate_comms_compute(
        with_transfers, stage_to_rank=rank_of.__getitem__, num_stages=pipeline.num_virtual_stages
    )


def _loaded(text: str, rank_of: dict[int, int]) -> dict[int, list]:
    """What `_PipelineScheduleRuntime._load_csv` makes of it; the loader needs no process group for that."""

    class Loader(torch_schedules._PipelineScheduleRuntime):
        def __init__(self) -> None:
            self.pipeline_order = {}
            self.pipeline_order_with_comms = {}
            self.stage_index_to_group_rank = rank_of
            self._num_stages = len(rank_of)
            self._validate_and_set_stage_mapping = lambda actions: actions

        def _prepare_schedule_with_comms(self, actions, format="compute_only"):  # noqa: A002  torch's own name
            self.pipeline_order = actions

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "schedule.csv"
        file.write_text(text, encoding="utf-8")
        loader = Loader()
        loader._load_csv(str(file), "compute_only")
    return loader.pipeline_order
