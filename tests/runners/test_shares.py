import pytest

from engine.config import ConfigError
from engine.runners.loading.shares import check_shares


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_heads_that_can_be_shared_out_are_no_problem(size):
    check_shares(8, size)


@pytest.mark.parametrize("size", [3, 16])
def test_heads_that_cannot_are_refused_with_the_sizes_that_can_be(size):
    problem = f"--tensor-parallel {size} cannot share its 8 key and value heads; 1 or 2 or 4 or 8"
    with pytest.raises(ConfigError, match=problem):
        check_shares(8, size)
