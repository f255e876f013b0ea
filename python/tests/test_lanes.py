"""A function of Python as the recommender of a replay: its limits, and a fallback for each way to fail."""

import json
import math
import signal
import struct
import time
import warnings

import pytest

import tautline
from made import START, usage

pa = pytest.importorskip("pyarrow")

DAY = 86400


@pytest.fixture(scope="module")
def table():
    return pa.table(usage(jobs=3, days=6))


def as_stored(value):
    """The engine stores usage as 32-bit numbers."""
    return struct.unpack("f", struct.pack("f", value))[0]


def in_mib(value):
    """Memory limits are whole MiB, rounded up."""
    return math.ceil(value / (1 << 20)) * float(1 << 20)


def last_peak(day):
    """1.5 times the highest usage of a task on the day before."""
    if day.usage is None:
        return {job: 9e8 for job in day.jobs}
    rows = day.usage.to_pyarrow()
    return {job: 1.5 * max(row["peak"] for row in rows.to_pylist() if row["job"] == job) for job in day.jobs}


def replay(table, function, **options):
    return tautline.replay(table, function, resources=["memory"], warmup="1d", progress=False, **options)


def test_the_limits_are_those_of_the_function(table):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = replay(table, last_peak)
    assert result.fallbacks == {}
    columns = table.to_pydict()
    for job in range(3):
        peaks = [max(m for t, j, m in zip(columns["time"], columns["job"], columns["memory_bytes"])
                     if j == f"shop/web-{job}" and START + d * DAY <= t < START + (d + 1) * DAY) for d in range(6)]
        rows = result.limits(f"shop/web-{job}").to_pyarrow().to_pylist()
        limits = [in_mib(9e8)] + [in_mib(1.5 * as_stored(peak)) for peak in peaks[:5]]
        changes = [(START + d * DAY, limits[d]) for d in range(6) if d == 0 or limits[d] != limits[d - 1]]
        assert [(int(row["time"].timestamp()), row["limit"]) for row in rows] == changes
        assert {row["recommender"] for row in rows} == {"last_peak"}
    assert result.table.to_pyarrow()["recommender"].to_pylist() == ["last_peak"]
    scores = json.loads(result.json())["lanes"][0]
    assert scores["recommender"] == "last_peak" and "static" not in result.json(jobs=True)
    of_static = str(tautline.replay(table, "static", resources=["memory"], warmup="1d")).splitlines()
    lines = str(result).splitlines()
    row = next(i for i, line in enumerate(lines) if line.startswith("last_peak "))
    assert of_static[row].startswith("static ") and len(lines[row].rstrip()) <= 100
    assert scores["oom_days"] == 0 and 0 < scores["footprint_of_owner"] < 1
    with pytest.raises(ValueError, match="a function of Python"):
        result.explain("shop/web-0")


def test_a_day_has_the_usage_of_the_day_before(table):
    days = []
    replay(table, lambda day: days.append(day) or {job: 9e8 for job in day.jobs})
    assert [int(day.start.timestamp()) for day in days] == [START + d * DAY for d in range(6)]
    assert days[0].usage is None and days[0].jobs == ["shop/web-0", "shop/web-1", "shop/web-2"]
    rows = days[2].usage.to_pyarrow().to_pylist()
    wanted = {(t, j, k): as_stored(m) for t, j, k, m in zip(*(table[c].to_pylist() for c in ("time", "job", "task", "memory_bytes")))
              if START + DAY <= t < START + 2 * DAY}
    assert {(int(r["time"].timestamp()), r["job"], r["task"]): r["peak"] for r in rows} == wanted
    assert {row["owner_limit"] for row in rows} == {float(1 << 30)}
    cpu = []
    tautline.replay(table, lambda day: cpu.append((day.resource, day.usage)) or {job: 1.0 for job in day.jobs}, warmup="1d")
    assert {resource for resource, _ in cpu} == {"cpu", "memory"}


def broken(day):
    raise LookupError("no model")


def late(day):
    time.sleep(0.2 if day.usage is not None else 0)
    return {job: 9e8 for job in day.jobs}


@pytest.mark.parametrize("function, fallbacks", [
    (broken, {"raised LookupError: no model": 18}),
    (lambda day: 17, {"raised TypeError: 'int' object is not iterable": 18}),
    (lambda day: {**dict.fromkeys(day.jobs, 9e8), "shop/web-0": math.nan}, {"answered no number above 0": 6}),
    (lambda day: {**dict.fromkeys(day.jobs, 9e8), "shop/web-0": "much"}, {"answered no number above 0": 6}),
    (lambda day: {**dict.fromkeys(day.jobs, 9e8), "shop/web-0": -5}, {"answered -5": 6}),
    (lambda day: {**dict.fromkeys(day.jobs, 9e8), "shop/web-0": math.inf}, {"answered inf": 6}),
    (lambda day: {**dict.fromkeys(day.jobs, 9e8), "shop/web-0": None}, {"answered None": 6}),
    (lambda day: dict.fromkeys(day.jobs[1:], 9e8), {"did not answer a job": 6}),
    (lambda day: {**dict.fromkeys(day.jobs, 9e8), "other": 9e8}, {"answered a job without usage on the day": 6}),
    (late, {"did not return within 0.1 s": 15}),
], ids=["raises", "no-mapping", "nan", "text", "negative", "infinite", "none", "missing", "unknown-job", "late"])
def test_a_function_that_fails_falls_back(table, function, fallbacks):
    with pytest.warns(UserWarning, match="limits of static were in force") as warned:
        result = replay(table, function, time_limit=0.1)
    assert result.fallbacks == fallbacks
    assert all(f"{count} job-days: {tautline._lanes.name_of(function)} {cause}" in str(warned[0].message)
               for cause, count in fallbacks.items())
    assert "test_lanes" in warned[0].filename
    limits = [row["limit"] for row in result.limits("shop/web-0").to_pyarrow().to_pylist()]
    if function is late:
        assert limits == [in_mib(9e8), float(1 << 30)]
    elif "answered a job without usage on the day" not in fallbacks:
        assert limits == [float(1 << 30)]


def test_another_fallback(table):
    with pytest.warns(UserWarning, match="limits of peak"):
        result = replay(table, broken, fallback="peak")
    peak = tautline.replay(table, "peak", resources=["memory"], warmup="1d")
    (own,), (of_peak,) = json.loads(result.json())["lanes"], json.loads(peak.json())["lanes"]
    assert own == {**of_peak, "recommender": "broken"}
    with pytest.raises(ValueError, match="unknown recommender"):
        replay(table, broken, fallback="best")


def test_ctrl_c_stops_a_function_that_hangs(table):
    def hang(_):
        signal.raise_signal(signal.SIGINT)
        time.sleep(30)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        replay(table, hang)
    assert time.monotonic() - began < 10
