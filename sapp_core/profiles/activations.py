"""What a layer keeps from forward to backward, tensor by tensor, in bytes for each token on one device.

Counted as in Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models" (arXiv:2205.05198,
section 4), whose `34 + 5·a·s/h` is the sum of these tensors for equal heads, a plain MLP and dropout. Kept is what the
gradient of an operation needs: the inputs of matrix products and norms, softmax outputs, dropout masks (one byte).
Tensors inside the tensor-parallel region are divided by its size; those between such regions only with sequence
parallelism. Experts get equal shares of the tokens.
"""

from dataclasses import dataclass

from sapp_core.profiles.model_shape import Block, Experts, GroupedAttention, LatentAttention, Mlp, ModelShape
from sapp_core.profiles.terms import Term, product, total
from sapp_core.profiles.training_setup import TrainingSetup

SINGLE = 4
"""Bytes of a number in single precision: softmax statistics, router and LM-head logits."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Bytes that one layer keeps for each token.

    Attributes:
        always: what a layer without full recomputation keeps.
        scores: what the recompute mode `select` computes again: scores of attention that is not flash attention.
        layer_input: all that full recomputation keeps.
    """

    always: tuple[Term, ...]
    scores: tuple[Term, ...]
    layer_input: Term

    @property
    def everything(self) -> tuple[Term, ...]:
        """Without any recomputation."""
        return (*self.always, *self.scores)


def kept_by_layer(shape: ModelShape, block: Block, setup: TrainingSetup) -> Kept:
    """What one layer keeps."""
    size, hidden, between = setup.number_format.size, shape.hidden_size, setup.between_split
    always = [
        product("inputs of the two norms", 2, size, hidden, over=between),
        product("input of attention", size, hidden, over=between),
        *_attention(shape, setup),
        product("input of the feed-forward network", size, hidden, over=between),
    ]
    if isinstance(block.feed_forward, Experts):
        always += _experts(block.feed_forward, shape, setup)
    else:
        always += _mlp("MLP", block.feed_forward, setup)
    if shape.dropout:
        always.append(product("two dropout masks", 2, hidden, over=between))
    return Kept(
        tuple(term for term in always if term.value),
        () if setup.flash_attention else _scores(shape, setup),
        product("input of the layer", size, hidden, over=between),
    )


def kept_by_embedding(shape: ModelShape, setup: TrainingSetup) -> tuple[Term, ...]:
    """Only a dropout mask: the gradient of a look-up needs nothing but the tokens."""
    return (product("dropout mask", shape.hidden_size, over=setup.between_split),) if shape.dropout else ()


def kept_by_head(shape: ModelShape, setup: TrainingSetup) -> tuple[Term, ...]:
    """Final norm, LM head and loss, once for the next token and once for each further one; and the layers of those."""
    between, size = setup.between_split, setup.number_format.size
    times = 1 + shape.num_mtp_layers
    ends = (
        product("inputs of final norm and LM head", times, 2, size, shape.hidden_size, over=between),
        product("logits", times, SINGLE, shape.vocab_size, over=setup.tensor_parallel),
    )
    if not shape.num_mtp_layers:
        return ends
    count, hidden = shape.num_mtp_layers, shape.hidden_size
    layer = total(kept_by_layer(shape, shape.blocks[-1], setup).everything)
    return (
        *ends,
        product("inputs of MTP norms and projection", count, 4, size, hidden, over=between),
        product(f"MTP layers like {shape.blocks[-1].name}", count, layer),
    )


def _attention(shape: ModelShape, setup: TrainingSetup) -> list[Term]:
    attention, size, split = shape.attention, setup.number_format.size, setup.tensor_parallel
    terms = [
        product("queries", size, attention.query_size, over=split),
        product("keys", size, attention.key_size, over=split),
        product("values", size, attention.value_size, over=split),
        product("input of the output projection", size, attention.output_size, over=split),
    ]
    if isinstance(attention, LatentAttention):
        compressed = attention.kv_rank + (attention.query_rank or 0)
        terms.append(
            product("compressed vectors before and after norms", 2, size, compressed, over=setup.between_split)
        )
    elif isinstance(attention, GroupedAttention) and attention.head_norm:
        normed = attention.query_size + attention.key_size
        terms.append(product("inputs of query and key norms", size, normed, over=split))
    if setup.flash_attention:
        terms.append(product("softmax statistics", SINGLE, attention.num_heads, over=split))
    return terms


def _scores(shape: ModelShape, setup: TrainingSetup) -> tuple[Term, ...]:
    heads, length, size = shape.attention.num_heads, setup.sequence_length, setup.number_format.size
    split = setup.tensor_parallel
    terms = [product("softmax of attention scores", size, heads, length, over=split)]
    if shape.dropout:
        terms.append(product("their dropout mask", heads, length, over=split))
        terms.append(product("scores after dropout", size, heads, length, over=split))
    return tuple(terms)


def _mlp(what: str, mlp: Mlp, setup: TrainingSetup, visits: int = 1) -> list[Term]:
    """Gated: gate, value beside it, and their product, from a fused kernel; plain: before and after the activation."""
    tensors = 3 if mlp.gated else 2
    size = setup.number_format.size
    return [
        product(f"inside of {what}", visits, tensors, size, mlp.intermediate_size, over=setup.tensor_parallel)
    ]  # fmt: skip


def _experts(experts: Experts, shape: ModelShape, setup: TrainingSetup) -> list[Term]:
    size, between, visits = setup.number_format.size, setup.between_split, experts.per_token
    terms = [
        product("router logits", SINGLE, experts.num_experts, over=between),
        # Each device's share of an expert meets all tokens that were sent to the expert.
        product("tokens sent to experts", visits, size, shape.hidden_size),
        *_mlp("experts", experts.expert, setup, visits),
        product("outputs of experts, to be weighed", visits, size, shape.hidden_size, over=between),
    ]
    return [*terms, *_mlp("shared experts", experts.shared, setup)] if experts.shared else terms
