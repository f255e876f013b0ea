"""Recommenders and histograms one by one, against a replay and against sums by hand."""

import datetime
import math

import pytest

import tautline
from made import START, usage

pa = pytest.importorskip("pyarrow")


def windows_of(columns):
    """Returns (time, usage by task of each resource, kills by task), ascending by time."""
    out = {}
    for row in range(len(columns["time"])):
        cpu, memory, kills = out.setdefault(columns["time"][row], ({}, {}, {}))
        task = columns["task"][row]
        cpu[task], memory[task] = columns["cpu_cores"][row], columns["memory_bytes"][row]
        if columns["oom_kills"][row]:
            kills[task] = columns["oom_kills"][row]
    return sorted(out.items())


@pytest.fixture(scope="module")
def columns():
    """Two tasks for 20 days without day 9, with kills, and with limits of the owner."""
    columns = usage(jobs=2, days=20)
    keep = [i for i, (job, time) in enumerate(zip(columns["job"], columns["time"]))
            if job == "shop/web-1" and not START + 9 * 86400 <= time < START + 10 * 86400]
    columns = {name: [values[i] for i in keep] for name, values in columns.items()}
    columns["cpu_limit"] = [2.0] * len(keep)
    columns["oom_kills"] = [1 if i in (3000, 5017) else 0 for i in range(len(keep))]
    return columns


@pytest.mark.parametrize("name", sorted(tautline.recommenders()))
@pytest.mark.parametrize("resource", ["cpu", "memory"])
def test_limits_are_those_of_a_replay(columns, name, resource):
    replayed = tautline.replay(pa.table(columns), [name], resources=[resource], warmup="1d")
    wanted = [(int(row["time"].timestamp()), row["limit"]) for row in replayed.limits("shop/web-1").to_pyarrow().to_pylist()]
    owner = {"cpu": 2.0, "memory": float(1 << 30)}[resource]
    one = tautline.Recommender(name, resource=resource, job="shop/web-1")
    got = []
    for time, (cpu, memory, kills) in windows_of(columns):
        limit = one.recommend(at=time)
        limit = owner if limit is None else limit
        if not got or limit != got[-1][1]:
            got.append((time, limit))
        one.observe(time, cpu if resource == "cpu" else memory, owner_limit=owner, oom_kills=kills if resource == "memory" else 0)
    assert got == wanted
    assert name.split("+", maxsplit=1)[0] in one.explain() or name == "combined"


def test_a_limit_needs_history():
    one = tautline.Recommender("moving_window")
    assert one.recommend() is None
    one.observe(datetime.datetime(2026, 3, 1), 1e9)
    assert "moving_window" in repr(one)


def test_usage_has_several_forms():
    ones = [tautline.Recommender("peak", settings={"peak.margin": 0.1}) for _ in range(3)]
    for i in range(3 * 288):
        ones[0].observe(300 * i, [1e9, 2e9, None])
        ones[1].observe(300 * i, {1: 2e9, 0: 1e9})
        ones[2].observe(datetime.datetime.fromtimestamp(300 * i, datetime.timezone.utc), (1e9, 2e9, math.nan))
    limits = {one.recommend() for one in ones}
    assert len(limits) == 1 and limits.pop() >= 2e9


@pytest.mark.parametrize("arguments, message", [
    (dict(time=300, usage=1e9), "later 5-minute window"),
    (dict(time=900, usage=-1.0), "usage: -1.0: expected a number of 0 or more"),
    (dict(time=900, usage=math.inf), "usage: inf"),
    (dict(time=900, usage={-1: 1.0}), "task -1"),
    (dict(time=900, usage=1.0, owner_limit=0), "owner_limit: 0"),
    (dict(time=900, usage=1.0, oom_kills=-2), "oom_kills: -2"),
])
def test_bad_observations_are_errors(arguments, message):
    one = tautline.Recommender("peak")
    one.observe(300, 1e9)
    with pytest.raises(ValueError, match=message):
        one.observe(**arguments)


def test_bad_recommenders_are_errors():
    with pytest.raises(ValueError, match="recommender: best: unknown recommender"):
        tautline.Recommender("best")
    with pytest.raises(ValueError, match="disk"):
        tautline.Recommender("peak", resource="disk")
    with pytest.raises(ValueError, match="set: "):
        tautline.Recommender("peak", settings={"no_such": 1})
    with pytest.raises(ValueError, match="oom_kills: expected with resource memory"):
        tautline.Recommender("peak", resource="cpu").observe(0, 1.0, oom_kills=1)


def test_a_histogram():
    histogram = tautline.Histogram("cpu")
    assert (histogram.quantile(0.5), histogram.mean, histogram.peak, histogram.weight()) == (0, 0, 0, 0)
    histogram.add([0.5] * 90 + [2.0] * 10)
    step = 2 ** (1 / 16)
    assert 0.5 <= histogram.quantile(0.9) <= 0.5 * step
    assert 2 <= histogram.quantile(0.91) <= 2 * step
    assert 2 <= histogram.peak <= 2 * step
    assert 0.65 <= histogram.mean <= 0.65 * step
    rows = histogram.buckets().to_pyarrow().to_pylist()
    assert [row["weight"] for row in rows] == [90, 10]


def test_a_histogram_decays_and_merges():
    old, new = (tautline.Histogram("memory", half_life=half_life) for half_life in ("24h", datetime.timedelta(days=1)))
    old.add(1e9, weight=8, time=0)
    new.add(4e9, weight=2, time=datetime.datetime(1970, 1, 3))
    old.merge(new)
    assert old.weight(2 * 86400) == pytest.approx(4)
    assert old.quantile(0.5) < 2e9 < old.quantile(0.51)
    for other in (tautline.Histogram("memory"), tautline.Histogram("cpu", "24h")):
        with pytest.raises(ValueError, match="same resource and half-life"):
            old.merge(other)


def test_bad_values_of_histograms_are_errors():
    histogram = tautline.Histogram("cpu")
    for value in (-1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="value"):
            histogram.add(value)
        with pytest.raises(ValueError, match="weight"):
            histogram.add(1.0, weight=value)
    with pytest.raises(ValueError, match="from 0 to 1"):
        histogram.quantile(95)
    with pytest.raises(ValueError, match="cpu or memory"):
        tautline.Histogram("disk")
    with pytest.raises(ValueError, match="half_life|duration"):
        tautline.Histogram("cpu", "soon")
