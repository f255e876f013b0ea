#!/usr/bin/env python3
"""Checks the invariants of a replay of the 250 virtual machines with all recommenders, at their defaults."""
import json
import sys


def main():
    result = json.load(open(sys.argv[1]))
    wrong = []

    def holds(condition, what):
        if not condition:
            wrong.append(what)

    lanes = {(lane["recommender"], lane["resource"]): lane for lane in result["lanes"]}
    holds(result["jobs"] == 250, f"{result['jobs']} jobs")
    for (name, resource), lane in lanes.items():
        where = f"{name} {resource}"
        print(f"{where}: footprint {lane['footprint_of_owner']:.3f}, OOM-days {lane['oom_day_share']:.4f}, "
              f"changes {lane['changes_per_job_day']:.3f}")
        static = lanes["static", resource]
        holds(lane["usage_over_share"] <= 1 and lane["oom_day_share"] <= 1, f"{where}: a share above 1")
        for same in ("job_days", "windows"):
            holds(lane[same] == static[same], f"{where}: {same} differs from static's")
        unit = "cores" if resource == "cpu" else "bytes"
        holds(lane[f"usage_{unit}_seconds"] == static[f"usage_{unit}_seconds"], f"{where}: usage differs from static's")
        holds(lane["changes_per_job_day"] + lane["share_of_days_without_change"] >= 1, f"{where}: days without change")
    for resource in ("cpu", "memory"):
        static, analogs = lanes["static", resource], lanes["analogs", resource]
        holds(static["footprint_of_owner"] == 1, f"static {resource}: not 100 % of the owner's")
        holds(analogs["footprint_of_owner"] < 1, f"analogs {resource}: no smaller than the owner's")
    memory = lanes["analogs", "memory"]
    holds(0.02 <= memory["oom_day_share"] <= 0.04, f"analogs memory: {memory['oom_day_share']:.4f} OOM-days, 0.03 ordered")
    holds(memory["changes_per_job_day"] <= 0.5, f"analogs memory: {memory['changes_per_job_day']:.3f} changes a job-day")
    for line in wrong:
        print("WRONG", line)
    print(f"bitbrains: {len(lanes)} lanes {'hold' if not wrong else 'do not hold'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
