"""Plans as MindFormers training settings (YAML), both ways.

MindFormers places layers by `offset` (layers of a cell minus the even share ⌊n/(S·V)⌋) and recomputes the first
layers of each cell: `recompute` of them fully; `select_recompute` and `select_comm_recompute` count from the first
layer as well, so that each of them includes the layers that are recomputed more.
"""

import yaml

from sapp_core.documents.parse import parse_document
from sapp_core.domain.pipeline import Pipeline
from sapp_core.domain.plan import Cells, LayerPlacement, Plan
from sapp_core.domain.profile import MODES, LayerProfile, ModelProfile, RecomputeMode
from sapp_core.domain.recompute_counts import FIELDS
from sapp_core.errors import FormatError
from sapp_core.interchange.mindformers_reader import LAYERS, OFFSET, plan_from_settings


def plan_to_mindformers(plan: Plan, profile: ModelProfile, pipeline: Pipeline) -> str:
    """YAML text with the settings of a plan, to be merged into a training file.

    One body kind: the keys of a training file. Several: a block for each kind under `layers`.

    Raises:
        PlanError: the plan does not fit profile and pipeline.
        FormatError: a cell mixes select and comm layers, for which MindFormers has no words.
    """
    plan.check(profile, pipeline)
    problems = [problem for placement in plan.layers for problem in _unsayable(placement, pipeline)]
    if problems:
        raise FormatError(*problems)
    lines = [
        "# Pipeline plan for MindFormers: merge these keys into the training file.",
        "# Lists have one number a stage; with interleaving there is one such list a chunk.",
        "# select_recompute and select_comm_recompute include the layers that are recomputed more.",
        "parallel_config:",
        f"  pipeline_stage: {pipeline.num_stages}",
        f"  micro_batch_num: {pipeline.num_micro_batches}",
    ]
    if len(plan.layers) == 1:
        lines += ["model:", "  model_config:", *_model_lines(plan.layers[0], profile.body[0], pipeline, "    ")]
        lines += ["recompute_config:", *_recompute_lines(plan.layers[0], "  ")]
        return "\n".join(lines) + "\n"
    lines += ["# Each block belongs to the settings of the part of the model that has these layers.", f"{LAYERS}:"]
    for placement, layer in zip(plan.layers, profile.body, strict=True):
        lines += [f"  {_quoted(layer.name)}:", *_model_lines(placement, layer, pipeline, "    ")]
        lines += _recompute_lines(placement, "    ")
    return "\n".join(lines) + "\n"


def plan_from_mindformers(data: bytes | str, profile: ModelProfile, pipeline: Pipeline) -> Plan:
    """The plan that MindFormers would run with these settings.

    Accepts what `plan_to_mindformers` writes, the same keys inside a training file, and the init files of MindFormers'
    pipeline balancer.

    Raises:
        FormatError: not such settings, or made for other numbers of stages, chunks or layers.
        PlanError: it uses a recompute mode that the profile does not offer, or breaks the order of the kinds.
    """
    encoded = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    return plan_from_settings(parse_document(encoded, "MindFormers settings"), profile, pipeline)


def _unsayable(placement: LayerPlacement, pipeline: Pipeline) -> list[str]:
    """Both fields count from the first layer: select and comm layers of one cell would fall on the same layers."""
    select, comm = (placement.counts[MODES.index(mode)] for mode in (RecomputeMode.SELECT, RecomputeMode.COMM))
    return [
        (
            f"{placement.name}, chunk {c}, stage {s}: MindFormers cannot mix the recompute modes select and comm in a "
            f"cell (it counts both starting at the first layer), found {select[c][s]} and {comm[c][s]} layers."
        )
        for c in range(pipeline.num_chunks)
        for s in range(pipeline.num_stages)
        if select[c][s] and comm[c][s]
    ]


def _model_lines(placement: LayerPlacement, layer: LayerProfile, pipeline: Pipeline, indent: str) -> list[str]:
    cells = pipeline.num_virtual_stages
    share, rest = divmod(layer.num_layers, cells)
    offset = tuple(
        tuple(placement.total(c, s) - share for s in range(pipeline.num_stages)) for c in range(pipeline.num_chunks)
    )
    return [
        f"{indent}num_layers: {layer.num_layers}",
        f"{indent}pp_interleave_num: {pipeline.num_chunks}",
        f"{indent}# {layer.num_layers} layers = {cells} cells × {share} (even share) + {rest}: offsets sum to {rest}.",
        *_cell_lines(OFFSET, offset, indent),
    ]


def _recompute_lines(placement: LayerPlacement, indent: str) -> list[str]:
    lines = []
    for field, modes in FIELDS.items():
        chunks = zip(*(placement.counts[MODES.index(mode)] for mode in modes), strict=True)
        counted = tuple(tuple(map(sum, zip(*rows, strict=True))) for rows in chunks)
        lines += _cell_lines(field, counted, indent)
    return lines


def _cell_lines(key: str, cells: Cells, indent: str) -> list[str]:
    """A flat list for one chunk, as MindFormers has it; else a list of lists, one line a chunk."""
    rows = [str(list(row)) for row in cells]
    if len(rows) == 1:
        return [f"{indent}{key}: {rows[0]}"]
    opening = f"{indent}{key}: ["
    return [opening + (",\n" + " " * len(opening)).join(rows) + "]"]


def _quoted(name: str) -> str:
    """Any name as one YAML key on one line."""
    return str(yaml.safe_dump(name, default_style='"', width=float("inf"))).strip()
