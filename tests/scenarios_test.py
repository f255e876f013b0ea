"""The default recommenders on jobs of named habits (bench/scenarios.py): harm and footprint stay within bounds that the
habit permits. docs/develop/benchmarks.md, "Scenarios", has the figures."""
import json
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
# (scenario, resource): bounds of over-days (memory) or throttled work (CPU), footprint of the daily peak, kills per week, and the share of
# windows over the limit.
BOUNDS = {
    ("over-owner", "memory"): (0.01, 1.25, 0.1, 0.0001),
    ("steady", "memory"): (0.01, 1.2, 0.1, 0.0001),
    ("leak", "memory"): (0.05, 1.6, 0.2, 0.0001),
    ("identical", "memory"): (0.01, 1.3, 0.1, 0.0001),
    ("growth-20", "memory"): (0.05, 1.6, 0.5, 0.0001),
    ("growth-x2", "memory"): (0.03, 1.3, 0.3, 0.0001),
    ("weekly", "memory"): (0.02, 1.5, 0.2, 0.0001),
    ("monthly", "memory"): (0.05, 1.4, 0.7, 0.0002),
    ("deploy", "memory"): (0.04, 1.25, 0.7, 0.0002),
    ("bursts", "memory"): (0.1, 2.3, 0.8, 0.0005),
    ("nightly", "memory"): (0.04, 1.6, 0.3, 0.0007),
    ("over-owner", "cpu"): (0.005, 1.0, None, 0.006),
    ("steady", "cpu"): (0.001, 1.2, None, 0.0001),
    ("identical", "cpu"): (0.001, 1.2, None, 0.0007),
    ("growth-20", "cpu"): (0.002, 1.1, None, 0.009),
    ("growth-x2", "cpu"): (0.002, 1.1, None, 0.01),
    ("weekly", "cpu"): (0.003, 1.2, None, 0.004),
    ("monthly", "cpu"): (0.002, 1.25, None, 0.003),
    ("deploy", "cpu"): (0.002, 1.2, None, 0.003),
    ("bursts", "cpu"): (0.003, 1.3, None, 0.003),
    ("nightly", "cpu"): (0.002, 1.6, None, 0.009),
}
RECOMMENDER = "combined"  # the default: one recommender per resource, so no other is replayed


@pytest.fixture(scope="module")
def results(stage):
    """Returns the results by scenario and resource."""
    out = stage.dir / "result.json"
    scenarios = sorted({scenario for scenario, _ in BOUNDS})
    ran = stage.run(sys.executable, ROOT / "bench/scenarios.py", "--taut", stage.args.taut, "--brief", "--json", out,
                    "--scenarios", ",".join(scenarios), "--recommenders", RECOMMENDER, seconds=800)
    assert ran.returncode == 0, ran.stderr
    return {(r["scenario"], r["resource"]): r for r in json.loads(out.read_text())["results"]}


@pytest.mark.parametrize("scenario, resource", BOUNDS)
def test_harm_and_footprint_are_within_their_bounds(results, scenario, resource):
    r = results[scenario, resource]
    harm = r["over_day_share"] if resource == "memory" else r["usage_over_share"]
    got = (harm, r["footprint_of_daily_peak"], r["kills_per_job_week"], r["windows_over_share"])
    bounds = BOUNDS[scenario, resource]
    assert all(most is None or (value is not None and value <= most) for value, most in zip(got, bounds)), (
        f"harm, footprint, kills, windows over: {got}, at most {bounds}")
