"""Sizes of a transformer."""

from dataclasses import dataclass
from math import gcd


@dataclass(frozen=True, slots=True)
class GroupedAttention:
    """Multi-head attention whose heads may share keys and values (as many key/value heads as heads: none shared).

    Attributes:
        num_heads: query heads.
        num_kv_heads: heads of keys and values.
        head_dim: numbers of a head.
        qkv_bias: whether query, key and value projections add a bias.
        output_bias: whether the output projection does.
        head_norm: whether queries and keys are normalised head by head (Qwen3).
    """

    num_heads: int
    num_kv_heads: int
    head_dim: int
    qkv_bias: bool = False
    output_bias: bool = False
    head_norm: bool = False

    @property
    def query_size(self) -> int:
        """Numbers of all queries of a token."""
        return self.num_heads * self.head_dim

    @property
    def key_size(self) -> int:
        """Numbers of all keys of a token."""
        return self.num_kv_heads * self.head_dim

    @property
    def value_size(self) -> int:
        """Numbers of all values of a token."""
        return self.key_size

    @property
    def output_size(self) -> int:
        """Numbers that attention gives to the output projection for a token."""
        return self.query_size


@dataclass(frozen=True, slots=True)
class LatentAttention:
    """Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): queries, keys and values from compressed vectors.

    Attributes:
        num_heads: heads.
        query_rank: size of the compressed queries; None = queries are not compressed.
        kv_rank: size of the compressed keys and values.
        nope_dim: numbers of a head's query and key without position.
        rope_dim: numbers with position; the key's are shared by all heads.
        value_dim: numbers of a head's value.
    """

    num_heads: int
    query_rank: int | None
    kv_rank: int
    nope_dim: int
    rope_dim: int
    value_dim: int

    @property
    def head_dim(self) -> int:
        """Numbers of a head's query and key."""
        return self.nope_dim + self.rope_dim

    @property
    def num_kv_heads(self) -> int:
        """Once expanded, every head has keys and values of its own."""
        return self.num_heads

    @property
    def query_size(self) -> int:
        """Numbers of all queries of a token."""
        return self.num_heads * self.head_dim

    @property
    def key_size(self) -> int:
        """Numbers of all keys of a token."""
        return self.query_size

    @property
    def value_size(self) -> int:
        """Numbers of all values of a token."""
        return self.num_heads * self.value_dim

    @property
    def output_size(self) -> int:
        """Numbers that attention gives to the output projection for a token."""
        return self.value_size


@dataclass(frozen=True, slots=True)
class Mlp:
    """A feed-forward network.

    Attributes:
        intermediate_size: numbers of a token inside.
        gated: whether a third matrix gates the inside (SwiGLU).
        bias: whether its matrices add a bias.
    """

    intermediate_size: int
    gated: bool = True
    bias: bool = False


@dataclass(frozen=True, slots=True)
class Experts:
    """A mixture of experts in the place of the feed-forward network.

    Attributes:
        num_experts: experts that the router chooses from.
        per_token: how many of them a token visits.
        expert: one expert.
        shared: what every token visits besides; None = nothing.
    """

    num_experts: int
    per_token: int
    expert: Mlp
    shared: Mlp | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """Equal decoder layers that follow one another.

    Attributes:
        name: unique within the model.
        num_layers: how many (≥ 1).
        feed_forward: the half of the layer that is not attention.
    """

    name: str
    num_layers: int
    feed_forward: Mlp | Experts


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A decoder-only transformer.

    Attributes:
        name: of the model.
        hidden_size: numbers of a token between layers.
        vocab_size: tokens that there are.
        attention: of every layer.
        blocks: kinds of layers, in model order.
        tied_embeddings: whether embedding and LM head are one matrix.
        num_mtp_layers: modules that predict further tokens (DeepSeek-V3), each with a layer like the last one.
        norm_bias: whether norms have a bias besides their weight (LayerNorm; RMSNorm has none).
        dropout: whether the residual branches, attention probabilities and embeddings are dropped at random.
        num_positions: learned position vectors; 0 = positions are computed.
    """

    name: str
    hidden_size: int
    vocab_size: int
    attention: GroupedAttention | LatentAttention
    blocks: tuple[Block, ...]
    tied_embeddings: bool = False
    num_mtp_layers: int = 0
    norm_bias: bool = False
    dropout: bool = False
    num_positions: int = 0


def divided_sizes(shape: ModelShape) -> dict[str, int]:
    """What tensor parallel divides, by name."""
    sizes = {"attention heads": shape.attention.num_heads, "key/value heads": shape.attention.num_kv_heads}
    for block in shape.blocks:
        networks = {"intermediate size": block.feed_forward}
        if isinstance(block.feed_forward, Experts):
            chosen = block.feed_forward
            networks = {"intermediate size of an expert": chosen.expert}
            if chosen.shared:
                networks["intermediate size of the shared experts"] = chosen.shared
        sizes.update({name: mlp.intermediate_size for name, mlp in networks.items() if isinstance(mlp, Mlp)})
    return sizes


def common_divisors(*sizes: int) -> tuple[int, ...]:
    """Numbers that divide all sizes, smallest first."""
    greatest = gcd(*sizes)
    small = [number for number in range(1, int(greatest**0.5) + 1) if greatest % number == 0]
    return tuple(sorted({*small, *(greatest // number for number in small)}))
