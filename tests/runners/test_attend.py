import pytest
import torch

from engine.runners.attention.attend import WORTH_A_QUERY, AttentionOptions, attend

ROWS, KV_HEADS, DIM = 4, 2, 16


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("num_keys", [16, WORTH_A_QUERY // ROWS])
@pytest.mark.parametrize("num_queries", [1, 2, 3, 5])
def test_each_query_gets_its_share_of_the_keys_it_sees(
    num_queries: int, num_keys: int, dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    query = torch.randn(ROWS, KV_HEADS, num_queries, DIM).to(dtype)
    keys, values = torch.randn(2, ROWS, KV_HEADS, num_keys, DIM).to(dtype)
    is_hidden = torch.arange(num_keys) >= torch.tensor([1, 7, 12, num_keys])[:, None, None, None]
    mask = torch.zeros(is_hidden.shape, dtype=dtype).masked_fill(is_hidden, float("-inf"))

    output = attend(query, keys, values, mask, AttentionOptions())

    scores = query.float() @ keys.float().transpose(2, 3) * DIM**-0.5 + mask
    expected = scores.softmax(-1) @ values.float()
    assert output.shape == query.shape
    rounding = 1e-5 if dtype is torch.float32 else 0.02
    assert (output.float() - expected).abs().max() < rounding


def test_a_mask_for_each_query_serves_an_odd_number_of_them() -> None:
    torch.manual_seed(0)
    query, keys = torch.randn(ROWS, 1, 3, DIM), torch.randn(ROWS, 1, WORTH_A_QUERY, DIM)
    mask = torch.full((ROWS, 1, 3, WORTH_A_QUERY), float("-inf"))
    mask[..., 5] = 0
    output = attend(query, keys, keys, mask, AttentionOptions())
    assert torch.allclose(output, keys[:, :, 5:6].expand(-1, -1, 3, -1), atol=1e-6)
