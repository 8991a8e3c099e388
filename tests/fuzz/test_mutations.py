"""Mutated real streams: never a crash, never a hang, and no incomplete stream is `ok`. `nox -s fuzz` goes on from here."""

from __future__ import annotations

import random
from unittest import mock

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.collector import StreamCollector
from harness.replay.reel import Reel
from tests.fuzz import __main__ as running
from tests.fuzz import judging
from tests.fuzz.judging import judge
from tests.fuzz.mutating import MUTATIONS, Mutated, mutated, one_of, streams
from tests.laws.cases import each_dialect


@each_dialect
@settings(max_examples=120, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(chance=st.randoms(use_true_random=False))
def test_whatever_becomes_of_a_stream_it_is_judged(dialect: str, chance: random.Random) -> None:
    judge(mutated(one_of(chance, streams(dialect)), chance))


@each_dialect
def test_each_mutation_alone(dialect: str) -> None:
    for number, mutation in enumerate(MUTATIONS):
        chance = random.Random(f"{dialect} {number}")
        for stream in streams(dialect)[:12]:
            reel = Reel(stream.exchange, dialect)
            mutation(reel, chance)
            judge(Mutated(dialect=dialect, provider=stream.case.provider, exchange=reel.exchange()))


@each_dialect
def test_a_reader_that_takes_a_part_for_the_whole_is_found_out(dialect: str) -> None:
    whole = [stream for stream in streams(dialect) if stream.case.provenance.kind != "anonymized"]
    reel = Reel(max(whole, key=lambda stream: len(stream.frames)).exchange, dialect)
    del reel.pieces[len(reel.pieces) // 2 :]
    cut = Mutated(dialect=dialect, provider="unknown", exchange=reel.exchange())
    assert not judge(cut).seen.complete
    with mock.patch.object(StreamCollector, "missing", None), pytest.raises(AssertionError, match="never came to its end"):
        judge(cut)


def test_the_seeds_go_on_until_the_time_is_over() -> None:
    assert running.plain(0, seed=3) == 1
    assert running.plain(0.2, seed=3) > 1


def test_a_failure_names_its_seed(capsys: pytest.CaptureFixture[str]) -> None:
    with mock.patch.object(judging, "judge", side_effect=ZeroDivisionError), pytest.raises(ZeroDivisionError):
        running.plain(5.0, seed=41)
    assert "--seed 41" in capsys.readouterr().out
