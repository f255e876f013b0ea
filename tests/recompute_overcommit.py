#!/usr/bin/env python3
"""Recomputes the figures of `taut overcommit --json` from the rows of --decisions: FILE.csv RESULT.json"""
import collections
import csv
import json
import math
import sys


def score(rows):
    below = [r for r in rows if r["predicted"] < r["oracle"] * (1 - 1e-9)]
    limit = sum(r["limit"] for r in rows)
    return {
        "predictions": len(rows),
        "footprint": sum(r["predicted"] for r in rows) / limit,
        "below_share": len(below) / len(rows),
        "severity": sum((r["oracle"] - r["predicted"]) / r["oracle"] for r in below) / max(1, len(below)),
        "mean_savings": sum(1 - r["predicted"] / r["limit"] for r in rows) / len(rows),
        "oracle_footprint": sum(r["oracle"] for r in rows) / limit,
    }


def main():
    groups = collections.defaultdict(list)
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for key in ("limit", "predicted", "oracle"):
                row[key] = float(row[key])
            group = (row["resource"], row["predictor"])
            groups[group].append(row)
            groups[group + ("placement", int(row["placement"]))].append(row)
    with open(sys.argv[2], encoding="utf-8") as file:
        result = json.load(file)
    checked, wrong = 0, []
    for resource in result["resources"]:
        for predictor in resource["predictors"]:
            group = (resource["resource"], predictor["predictor"])
            expected = [(group, predictor["total"])]
            expected += [(group + ("placement", i), s) for i, s in enumerate(predictor["by_placement"])]
            for key, figures in expected:
                for name, value in score(groups[key]).items():
                    checked += 1
                    if not math.isclose(value, figures[name], rel_tol=1e-9, abs_tol=1e-12):
                        wrong.append(f"{key} {name}: {figures[name]}, recomputed {value}")
    print("\n".join(wrong[:10] + [f"{len(wrong)} figures differ"]) if wrong else f"{checked} figures: all as recomputed")


if __name__ == "__main__":
    main()
