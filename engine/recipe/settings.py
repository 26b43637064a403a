"""All numbers of a run; the defaults make the shipped weights."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """What a run is made of.

    Attributes:
        tokens_per_step: Length of a row of packed documents, the batch of one step.
        warmup_steps: The learning rate rises over these steps.
        hold_share: It then stays at its peak until this share of the steps.
        prompt_weight: Weight of the loss on what the user says; answers weigh 1.
    """

    seed: int = 1234
    steps: int = 1600
    tokens_per_step: int = 5120
    learning_rate: float = 4e-3
    warmup_steps: int = 60
    hold_share: float = 0.4
    prompt_weight: float = 0.3
    vocab_size: int = 2048
    tokenizer_documents: int = 20_000
    hidden_size: int = 256
    intermediate_size: int = 704
    num_layers: int = 4
    num_heads: int = 4
    num_kv_heads: int = 2
    max_position_embeddings: int = 8192
    validation_documents: int = 300
    validation_every: int = 250
