from engine.recipe.answering import percentiles


def test_percentiles_are_taken_from_the_sorted_counts():
    assert percentiles([30, 10, 20, 50, 40, 60, 70, 80, 90, 100, 110]) == [20, 60, 100]
    assert percentiles([7]) == [7, 7, 7]
