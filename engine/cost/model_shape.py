"""`ModelShape`: the dimensions of a dense transformer that decide what a token costs."""

from __future__ import annotations

from dataclasses import dataclass

from engine.checks import require, require_positive
from engine.cost.load import Load


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelShape:
    """A decoder with gated feed-forward layers, in the words of its `config.json`.

    Attributes:
        max_position_embeddings: tokens of a sequence at most.
        tie_word_embeddings: the head is the table of embeddings, and takes no memory of its own.
        has_qk_norm: each layer normalises queries and keys, as in Qwen3.
        source: where the figures are from.
    """

    name: str
    hidden_size: int
    intermediate_size: int
    num_hidden_layers: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    vocab_size: int
    max_position_embeddings: int
    tie_word_embeddings: bool = False
    has_qk_norm: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        require_positive(
            hidden_size=self.hidden_size,
            intermediate_size=self.intermediate_size,
            num_hidden_layers=self.num_hidden_layers,
            num_attention_heads=self.num_attention_heads,
            num_key_value_heads=self.num_key_value_heads,
            head_dim=self.head_dim,
            vocab_size=self.vocab_size,
            max_position_embeddings=self.max_position_embeddings,
        )
        require(
            self.num_attention_heads % self.num_key_value_heads == 0,
            f"num_attention_heads must be a multiple of num_key_value_heads "
            f"({self.num_key_value_heads}), got {self.num_attention_heads}",
        )

    @property
    def layer_params(self) -> int:
        """Weights that every token is multiplied with, all layers together."""
        attention = self.head_dim * (2 * self.num_attention_heads + 2 * self.num_key_value_heads)
        return self.num_hidden_layers * self.hidden_size * (attention + 3 * self.intermediate_size)

    @property
    def head_params(self) -> int:
        """Weights that a token is multiplied with once more where it samples the next one."""
        return self.hidden_size * self.vocab_size

    @property
    def num_params(self) -> int:
        """All weights in memory."""
        norms = 2 * self.hidden_size + (2 * self.head_dim if self.has_qk_norm else 0)
        num_tables = 1 if self.tie_word_embeddings else 2
        return (
            self.layer_params
            + self.num_hidden_layers * norms
            + self.hidden_size
            + num_tables * self.head_params
        )

    @property
    def num_lookup_params(self) -> int:
        """Weights of an embedding that is not the head too, of which a token takes a row."""
        return 0 if self.tie_word_embeddings else self.head_params

    @property
    def kv_values_per_token(self) -> int:
        """Numbers that one token leaves in the KV cache, all layers together."""
        return 2 * self.num_hidden_layers * self.num_key_value_heads * self.head_dim

    def layer_operations(self, load: Load) -> int:
        """Floating point operations of layers and head: two by weight."""
        return 2 * (self.layer_params * load.num_positions + self.head_params * load.num_sampled)

    def weights_read(self, load: Load) -> int:
        """Weights that a pass reads, each once, however many tokens share it."""
        return self.layer_params + (self.head_params if load.num_sampled else 0)

    def attention_operations(self, load: Load) -> int:
        """Floating point operations of scores and weighted sums: four by number of a query."""
        width = self.num_hidden_layers * self.num_attention_heads * self.head_dim
        return 4 * width * load.num_attended
