"""Parameters of a transformer, as sums that say what they count: of the whole model and of one device."""

from dataclasses import dataclass, replace

from sapp_core.profiles.model_shape import Block, Experts, LatentAttention, Mlp, ModelShape
from sapp_core.profiles.terms import Term, product, total


@dataclass(frozen=True, slots=True)
class Parameters:
    """Parameters on one device; experts apart, because fewer devices hold a copy of each.

    Attributes:
        dense: of everything but experts.
        experts: of the experts.
    """

    dense: tuple[Term, ...]
    experts: tuple[Term, ...] = ()

    @property
    def count(self) -> float:
        """All together."""
        return total(self.dense) + total(self.experts)


def norm_terms(shape: ModelShape, what: str, count: int) -> tuple[Term, ...]:
    """Parameters of norms over the hidden size; every device has all of them."""
    return (product(what, count, 2 if shape.norm_bias else 1, shape.hidden_size),)


def layer_parameters(shape: ModelShape, block: Block, split: int = 1, expert_split: int = 1) -> Parameters:
    """Parameters of one layer on a device.

    Args:
        shape: the model.
        block: which of its layers.
        split: tensor parallel size.
        expert_split: expert parallel size.
    """
    attention = _attention_terms(shape, split)
    experts: tuple[Term, ...] = ()
    if isinstance(block.feed_forward, Experts):
        chosen = block.feed_forward
        experts = mlp_terms("experts", shape, chosen.expert, split, copies=chosen.num_experts, over=expert_split)
        feed_forward: tuple[Term, ...] = (product("router", shape.hidden_size, chosen.num_experts),)
        if chosen.shared:
            feed_forward += mlp_terms("shared experts", shape, chosen.shared, split)
    else:
        feed_forward = mlp_terms("MLP", shape, block.feed_forward, split)
    return Parameters((*attention, *feed_forward, *norm_terms(shape, "norms", 2)), experts)


def used_parameters(shape: ModelShape, block: Block, split: int = 1) -> Parameters:
    """Parameters of one layer that a token meets on a device: of the experts only those that it visits."""
    if isinstance(block.feed_forward, Experts):
        visited = replace(block, feed_forward=replace(block.feed_forward, num_experts=block.feed_forward.per_token))
        router = product("router", shape.hidden_size, block.feed_forward.num_experts)
        met = layer_parameters(shape, visited, split)
        return Parameters(tuple(router if term.what == "router" else term for term in met.dense), met.experts)
    return layer_parameters(shape, block, split)


def mlp_terms(
    what: str, shape: ModelShape, mlp: Mlp, split: int, *, copies: int = 1, over: int = 1
) -> tuple[Term, ...]:
    """Parameters of feed-forward networks on a device."""
    matrices = product(what, copies, 3 if mlp.gated else 2, shape.hidden_size, mlp.intermediate_size, over=split * over)
    if not mlp.bias:
        return (matrices,)
    inner = product(f"{what}: inner biases", copies, 2 if mlp.gated else 1, mlp.intermediate_size, over=split * over)
    return (matrices, inner, product(f"{what}: outer bias", copies, shape.hidden_size, over=over))


def embedding_terms(shape: ModelShape, split: int = 1) -> tuple[Term, ...]:
    """Parameters before the first layer, on a device."""
    words = product("embedding", shape.vocab_size, shape.hidden_size, over=split)
    return (words, product("positions", shape.num_positions, shape.hidden_size)) if shape.num_positions else (words,)


def head_terms(shape: ModelShape, split: int = 1) -> tuple[Term, ...]:
    """Parameters of the LM head on a device."""
    return (product("LM head", shape.hidden_size, shape.vocab_size, over=split),)


def mtp_terms(shape: ModelShape, split: int = 1) -> tuple[Term, ...]:
    """Parameters of one module that predicts a further token, besides its layer; embedding and head are shared."""
    return (
        product("MTP projection", 2, shape.hidden_size, shape.hidden_size, over=split),
        *norm_terms(shape, "MTP norms", 3),
    )


def parameter_count(shape: ModelShape, *, with_mtp: bool = False) -> int:
    """Parameters of the whole model, each counted once.

    Args:
        shape: the model.
        with_mtp: whether those of the MTP modules count, too; model cards give them apart.
    """
    layers = sum(block.num_layers * layer_parameters(shape, block).count for block in shape.blocks)
    ends = total(embedding_terms(shape)) + total(norm_terms(shape, "final norm", 1))
    if not shape.tied_embeddings:
        ends += total(head_terms(shape))
    more = total(mtp_terms(shape)) + layer_parameters(shape, shape.blocks[-1]).count
    return round(layers + ends + (shape.num_mtp_layers * more if with_mtp else 0))


def used_parameter_count(shape: ModelShape) -> int:
    """Parameters that one token meets, embedding and LM head included."""
    layers = sum(block.num_layers * used_parameters(shape, block).count for block in shape.blocks)
    return round(layers + total(embedding_terms(shape)) + total(norm_terms(shape, "", 1)) + total(head_terms(shape)))


def _attention_terms(shape: ModelShape, split: int) -> tuple[Term, ...]:
    attention, hidden = shape.attention, shape.hidden_size
    output = product("output projection", attention.output_size, hidden, over=split)
    if isinstance(attention, LatentAttention):
        return (*_latent_terms(attention, hidden, split), output)
    terms = [
        product("query projection", hidden, attention.query_size, over=split),
        product("key and value projections", 2, hidden, attention.key_size, over=split),
        output,
    ]
    if attention.qkv_bias:
        terms.append(product("biases", attention.query_size + 2 * attention.key_size, over=split))
    if attention.output_bias:
        terms.append(product("output bias", hidden))
    if attention.head_norm:
        terms.append(product("query and key norms", 2, attention.head_dim))
    return tuple(terms)


def _latent_terms(attention: LatentAttention, hidden: int, split: int) -> tuple[Term, ...]:
    """Compressing matrices and their norms stand on every device, expanding ones are divided (as in Megatron-Core)."""
    if attention.query_rank is None:
        queries = [product("query projection", hidden, attention.query_size, over=split)]
    else:
        queries = [
            product("query compression and norm", hidden + 1, attention.query_rank),
            product("query expansion", attention.query_rank, attention.query_size, over=split),
        ]
    expanded = attention.num_heads * (attention.nope_dim + attention.value_dim)
    return (
        *queries,
        product("key and value compression", hidden, attention.kv_rank + attention.rope_dim),
        product("its norm", attention.kv_rank),
        product("key and value expansion", attention.kv_rank, expanded, over=split),
    )
