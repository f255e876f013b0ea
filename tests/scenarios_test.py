#!/usr/bin/env python3
"""The default recommenders on jobs of named habits (bench/scenarios.py): harm and footprint stay within bounds that the
habit allows. docs/develop/benchmarks.md, "Scenarios", has the figures."""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# (scenario, resource): the most over-days (memory) or throttled work (CPU), footprint of the daily peak, kills a week,
# share of windows over the limit
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
RECOMMENDER = "combined"  # the default: of each resource one, so that no other is replayed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--taut", required=True)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "result.json"
        scenarios = sorted({scenario for scenario, _ in BOUNDS})
        subprocess.run([sys.executable, str(ROOT / "bench/scenarios.py"), "--taut", args.taut, "--brief", "--json", str(out),
                        "--scenarios", ",".join(scenarios), "--recommenders", RECOMMENDER],
                       check=True, stdout=subprocess.DEVNULL)
        results = json.loads(out.read_text())["results"]
    wrong, checked = [], 0
    for r in results:
        bounds = BOUNDS.get((r["scenario"], r["resource"]))
        if bounds is None:
            continue
        harm = r["over_day_share"] if r["resource"] == "memory" else r["usage_over_share"]
        got = (harm, r["footprint_of_daily_peak"], r["kills_per_job_week"], r["windows_over_share"])
        checked += 1
        if any(most is not None and (value is None or not value <= most) for value, most in zip(got, bounds)):
            wrong.append(f"{r['scenario']} {r['resource']}: harm, footprint, kills, windows over {got}, at most {bounds}")
    if checked != len(BOUNDS):
        wrong.append(f"{checked} of {len(BOUNDS)} scenarios were measured")
    for line in wrong:
        print(line)
    print(f"{checked} scenarios: " + (f"{len(wrong)} out of bounds" if wrong else "within their bounds"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
