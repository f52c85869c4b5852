"""A profile from a model's hyper-parameters: an estimate for people who have no measurements yet."""

from collections.abc import Sequence
from dataclasses import dataclass

from sapp_core.domain.profile import MODES, LayerKind, LayerProfile, ModelProfile, RecomputeMode, TrainingShape
from sapp_core.errors import ProfileError
from sapp_core.profiles.activations import kept_by_embedding, kept_by_head, kept_by_layer
from sapp_core.profiles.model_shape import Block, Experts, ModelShape
from sapp_core.profiles.parameters import (
    Parameters,
    embedding_terms,
    head_terms,
    layer_parameters,
    mtp_terms,
    norm_terms,
    used_parameters,
)
from sapp_core.profiles.schema import MAX_NUMBER
from sapp_core.profiles.terms import Explained, Term, plain, product, total, written
from sapp_core.profiles.training_setup import GRADIENT_SIZE, TrainingSetup, setup_problems

MEBI = 1024**2
EMBEDDING, LM_HEAD = "Embedding", "LMHead"

NOTES = (
    "These are estimates from published sizes, not measurements.",
    "Times count only matrix products and attention, at one efficiency; communication inside a stage costs no time.",
)
EXPERTS_NOTE = "Experts are taken to get equal shares of the tokens."
FLASH_NOTE = "Flash attention keeps no scores, so the recompute mode select would save nothing and is left out."


@dataclass(frozen=True, slots=True)
class Estimate:
    """A profile and how each of its numbers came about.

    Attributes:
        profile: ordinary, to be balanced, edited and saved.
        numbers: every estimated number with its formula, layer by layer.
        notes: what the estimate leaves out, one sentence each.
    """

    profile: ModelProfile
    numbers: tuple[Explained, ...]
    notes: tuple[str, ...]


def estimate(shape: ModelShape, setup: TrainingSetup) -> Estimate:
    """The profile of a model under a training setup.

    Times are milliseconds of one micro-batch on one device, memory is MiB of one device.

    Raises:
        ProfileError: the setup does not fit the model, or numbers are beyond what a profile holds; all at once.
    """
    if problems := setup_problems(shape, setup):
        raise ProfileError(*problems)
    layers = [_embedding(shape, setup), *(_body(shape, block, setup) for block in shape.blocks), _head(shape, setup)]
    numbers = tuple(number for _, numbers in layers for number in numbers)
    if beyond := [number for number in numbers if number.value > MAX_NUMBER]:
        raise ProfileError(*(_too_large(number) for number in beyond))
    profile = ModelProfile(
        name=shape.name,
        layers=tuple(layer for layer, _ in layers),
        training=_training_shape(shape, setup),
        memory_limit_mb=float(setup.device.memory_gb * 10**9 // MEBI),
    )
    has_experts = any(isinstance(block.feed_forward, Experts) for block in shape.blocks)
    notes = (*NOTES, *([EXPERTS_NOTE] if has_experts else []), *([FLASH_NOTE] if setup.flash_attention else []))
    return Estimate(profile, numbers, notes)


_Costed = tuple[LayerProfile, tuple[Explained, ...]]


def _too_large(number: Explained) -> str:
    return (
        f"{number.layer}: the {number.quantity} must be up to {MAX_NUMBER:,} {number.unit}, found {number.value:.3g}."
    )


def _embedding(shape: ModelShape, setup: TrainingSetup) -> _Costed:
    parameter = _parameter_memory(EMBEDDING, Parameters(embedding_terms(shape, setup.tensor_parallel)), setup)
    kept = _activation_memory(EMBEDDING, RecomputeMode.NONE, kept_by_embedding(shape, setup), setup)
    time = Explained(EMBEDDING, "forward time", 0.0, "ms", "a look-up, no matrix product")
    return _end(EMBEDDING, LayerKind.HEAD, time, parameter, kept)


def _head(shape: ModelShape, setup: TrainingSetup) -> _Costed:
    split, modules = setup.tensor_parallel, shape.num_mtp_layers
    name = f"{LM_HEAD}AndMTP" if modules else LM_HEAD
    dense = (*head_terms(shape, split), *norm_terms(shape, "final norm", 1))
    experts: tuple[Term, ...] = ()
    flops = [_matrix_flops(head_terms(shape, split), setup, 1 + modules)]
    if modules:
        last = shape.blocks[-1]
        layer = layer_parameters(shape, last, split, setup.expert_parallel)
        dense += (
            product("MTP modules", modules, total(mtp_terms(shape, split))),
            product(f"their layers like {last.name}", modules, total(layer.dense)),
            product("copy of the embedding", total(embedding_terms(shape, split))),
        )
        experts = (product("their experts", modules, total(layer.experts)),) if layer.experts else ()
        used = used_parameters(shape, last, split)
        flops.append(_matrix_flops((*mtp_terms(shape, split), *used.dense, *used.experts), setup, modules))
        flops.append(_score_flops(shape, setup, modules))
    time = _time(name, "forward time", flops, setup)
    parameter = _parameter_memory(name, Parameters(dense, experts), setup)
    return _end(
        name,
        LayerKind.TAIL,
        time,
        parameter,
        _activation_memory(name, RecomputeMode.NONE, kept_by_head(shape, setup), setup),
    )


def _end(name: str, kind: LayerKind, time: Explained, parameter: Explained, kept: Explained) -> _Costed:
    """Head or tail: never recomputed."""
    backward = Explained(name, "backward time, none", 2 * time.value, time.unit, f"2 × forward {plain(time.value)}")
    layer = LayerProfile(
        name, kind, 1, time.value, (backward.value,) * len(MODES), parameter.value,
        (kept.value, *(None for _ in MODES[1:])),
    )  # fmt: skip
    return layer, (time, backward, parameter, kept)


def _body(shape: ModelShape, block: Block, setup: TrainingSetup) -> _Costed:
    name, split = block.name, setup.tensor_parallel
    used = used_parameters(shape, block, split)
    scores = _score_flops(shape, setup)
    forward = _time(name, "forward time", [_matrix_flops((*used.dense, *used.experts), setup), scores], setup)
    again = _time(name, "scores", [scores], setup)
    parameter = _parameter_memory(name, layer_parameters(shape, block, split, setup.expert_parallel), setup)
    kept = kept_by_layer(shape, block, setup)
    memory = {RecomputeMode.NONE: kept.everything, RecomputeMode.FULL: (kept.layer_input,)}
    repeated = {RecomputeMode.SELECT: ("the scores", again.value), RecomputeMode.FULL: ("the layer", forward.value)}
    if kept.scores:
        memory[RecomputeMode.SELECT] = kept.always
    activations, backwards = {}, {}
    for mode in (mode for mode in MODES if mode in memory):
        activations[mode] = _activation_memory(name, mode, memory[mode], setup)
        what, extra = repeated.get(mode, ("", 0.0))
        said = f"2 × forward {plain(forward.value)}" + (f" + {what} again {plain(extra)}" if extra else "")
        backwards[mode] = Explained(name, f"backward time, {mode}", 2 * forward.value + extra, "ms", said)
    layer = LayerProfile(
        name, LayerKind.BODY, block.num_layers, forward.value,
        tuple(backwards[mode].value if mode in backwards else 2 * forward.value for mode in MODES), parameter.value,
        tuple(activations[mode].value if mode in activations else None for mode in MODES),
    )  # fmt: skip
    return layer, (forward, *backwards.values(), parameter, *activations.values())


def _matrix_flops(used: Sequence[Term], setup: TrainingSetup, times: int = 1) -> Term:
    return product("matrix products", times, 2, setup.tokens, total(used))


def _score_flops(shape: ModelShape, setup: TrainingSetup, times: int = 1) -> Term:
    """Scores times keys and values; causal kernels skip half of them."""
    attention = shape.attention
    width = attention.query_size + attention.output_size
    causal = 2 if setup.flash_attention else 1
    return product(
        "attention scores", times, 2, setup.tokens, setup.sequence_length, width, over=causal * setup.tensor_parallel
    )


def _time(layer: str, quantity: str, flops: Sequence[Term], setup: TrainingSetup) -> Explained:
    peak = setup.device.peak_tflops(setup.number_format)
    value = total(flops) / (peak * 10**12 * setup.efficiency) * 1000
    said = f"({written(flops)}) FLOPs ÷ ({plain(peak)} TFLOP/s × {100 * setup.efficiency:g} %)"
    return Explained(layer, quantity, value, "ms", said)


def _parameter_memory(layer: str, parameters: Parameters, setup: TrainingSetup) -> Explained:
    """Weights and gradients of all, and the optimizer's state, which the replicas of a parameter may share."""
    groups = [("", parameters.dense, setup.data_parallel)]
    if parameters.experts:
        groups.append(("experts: ", parameters.experts, setup.data_parallel // setup.expert_parallel))
    value, said = 0.0, []
    weight, state = setup.number_format.size, setup.number_format.optimizer_size
    for prefix, terms, replicas in groups:
        shared = replicas if setup.sharded_optimizer else 1
        value += total(terms) * (weight + GRADIENT_SIZE + state / shared) / MEBI
        divided = f" ÷ {plain(shared)}" if shared > 1 else ""
        sizes = f"{weight} weight + {GRADIENT_SIZE} gradient + {state} optimizer{divided}"
        said.append(f"{prefix}({written(terms)}) × ({sizes}) bytes")
    return Explained(layer, "parameter memory", value, "MB", " + ".join(said))


def _activation_memory(layer: str, mode: RecomputeMode, kept: Sequence[Term], setup: TrainingSetup) -> Explained:
    value = total(kept) * setup.tokens / MEBI
    said = f"({written(kept)}) bytes × {plain(setup.tokens)} tokens" if kept else "nothing is kept"
    return Explained(layer, f"activation memory, {mode}", value, "MB", said)


def _training_shape(shape: ModelShape, setup: TrainingSetup) -> TrainingShape:
    first = shape.blocks[0].feed_forward
    return TrainingShape(
        batch_size=setup.micro_batch_size,
        num_heads=shape.attention.num_heads,
        seq_length=setup.sequence_length,
        head_dim=shape.attention.head_dim,
        hidden_size=shape.hidden_size,
        intermediate_size=(first.expert if isinstance(first, Experts) else first).intermediate_size,
        vocab_size=shape.vocab_size,
        model_parallel=setup.tensor_parallel,
    )
