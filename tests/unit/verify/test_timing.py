"""The sequential sign test decides as its steps say, and its interval holds the median."""

from __future__ import annotations

import random

from perfcc.verify.timing import MOST_PAIRS, SignTest


def decide(ratios: list[float]) -> tuple[str | None, int]:
    test = SignTest()
    for index, ratio in enumerate(ratios, 1):
        verdict = test.add(ratio, 1.0)
        if verdict is not None:
            return verdict, index
    return None, len(ratios)


def test_eight_wins_in_a_row_accept() -> None:
    assert decide([1.2] * 8) == ("accept", 8)
    assert decide([1.2] * 7) == (None, 7)


def test_two_losses_reject() -> None:
    assert decide([1.0, 1.0]) == ("reject", 2)


def test_exactly_a_tenth_faster_is_no_win() -> None:
    assert decide([1.10, 1.10])[0] == "reject"


def test_it_ends() -> None:
    # Eleven wins make up for four losses, so that the score stays between the bounds.
    pattern = [1.2, 1.2, 1.2, 1.0] * 20
    verdict, pairs = decide(pattern)
    assert verdict is not None
    assert pairs <= MOST_PAIRS


def test_worthless_candidates_are_not_accepted_under_noise() -> None:
    noise = random.Random(1)
    accepted = sum(decide([noise.lognormvariate(0.0, 0.15) for _ in range(MOST_PAIRS)])[0] == "accept" for _ in range(400))
    assert accepted <= 4


def test_good_ones_are() -> None:
    noise = random.Random(2)
    accepted = sum(decide([1.3 * noise.lognormvariate(0.0, 0.05) for _ in range(MOST_PAIRS)])[0] == "accept" for _ in range(200))
    assert accepted >= 198


def test_the_interval_of_eight_pairs_is_their_range() -> None:
    test = SignTest()
    for ratio in (1.5, 1.2, 1.9, 1.3, 1.4, 1.6, 1.7, 1.8):
        test.add(ratio, 1.0)
    assert test.interval() == (1.2, 1.9)
    assert 1.2 <= test.median <= 1.9
