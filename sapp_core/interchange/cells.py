"""Layer counts of all cells as they stand in files: `[chunk][stage]` lists of whole numbers."""

from sapp_core.documents.report import found
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Cells
from sapp_core.errors import FormatError


def read_cells(value: object, path: str, pipeline: Pipeline, *, negative: bool = False) -> Cells:
    """Whole numbers of every cell, `[chunk][stage]`; a single chunk may stand alone, as a flat list of stages.

    Args:
        value: what the file holds.
        path: of the value in its file, for the sentences.
        pipeline: says how many chunks and stages there must be.
        negative: whether numbers below 0 are meant.

    Raises:
        FormatError: wrong numbers of chunks or stages, or entries that are no counts.
    """
    if not isinstance(value, list):
        raise FormatError(f"{path}: must be {_wanted(pipeline)}, found {found(value)}.")
    flat = not any(isinstance(row, list) for row in value)
    if flat and pipeline.num_chunks > 1:
        raise FormatError(f"{path}: must be {_wanted(pipeline)}, found one flat list of {len(value)}.")
    rows = {path: value} if flat else {f"{path}[{chunk}]": row for chunk, row in enumerate(value)}
    if len(rows) != pipeline.num_chunks:
        raise FormatError(f"{path}: must be {_wanted(pipeline)}, found {len(rows)} lists.")
    problems = [
        problem
        for row_path, row in rows.items()
        for problem in _row_problems(row, row_path, pipeline.num_stages, negative=negative)
    ]
    if problems:
        raise FormatError(*problems)
    return tuple(tuple(row) for row in rows.values())


def _row_problems(row: object, path: str, stages: int, *, negative: bool) -> list[str]:
    if not isinstance(row, list):
        return [f"{path}: must be a list of {stages} whole numbers, one a stage, found {found(row)}."]
    problems = [] if len(row) == stages else [f"{path}: needs {stages} stages, found {len(row)}."]
    for stage, count in enumerate(row):
        if isinstance(count, bool) or not isinstance(count, int):
            problems.append(f"{path}[{stage}]: must be a whole number, found {found(count)}.")
        elif count < 0 and not negative:
            problems.append(f"{path}[{stage}]: a count cannot be negative, found {found(count)}.")
    return problems


def _wanted(pipeline: Pipeline) -> str:
    row = f"a list of {pipeline.num_stages} whole numbers, one a stage"
    return row if pipeline.num_chunks == 1 else f"{pipeline.num_chunks} lists, one a chunk, each {row}"
