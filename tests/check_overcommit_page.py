#!/usr/bin/env python3
"""Compares the tables of `taut overcommit --html` with its --json.  check_overcommit_page.py PAGE JSON"""
import json
import math
import sys

from page_data import data_of

MOST_MACHINES = 20


def parts(section, kind):
    """Returns the parts of this kind."""
    return [part for part in section["parts"] if part["is"] == kind]


def main():
    _, page = data_of(sys.argv[1])
    sections = page["sections"]
    with open(sys.argv[2], encoding="utf-8") as f:
        resources = json.load(f)["resources"]
    figures, machines, wrong = 0, 0, []

    def expect(what, shown, value):
        nonlocal figures
        figures += 1
        if shown != value and not (isinstance(shown, float) and isinstance(value, float) and math.isclose(shown, value)):
            wrong.append(f"{what}: the page has {shown}, the JSON {value}")

    # Checks one predictor and one machine of each resource.
    if len(sections) != 2 * len(resources):
        sys.exit(f"{len(sections)} sections on the page, {len(resources)} resources in the JSON")
    for at_section, resource in enumerate(resources):
        name, predictors = resource["resource"], resource["predictors"]
        table, = parts(sections[2 * at_section], "table")
        points, = parts(sections[2 * at_section], "points")
        drawn = {point["name"]: point for point in points["points"]}
        for row, predictor in zip(table["rows"], predictors, strict=True):
            total = predictor["total"]
            at = f"{name} {predictor['predictor']}"
            expect(at, row[0], predictor["predictor"])
            expect(f"{at} footprint", float(row[1]), float(total["footprint"]))
            expect(f"{at} below", float(row[2]), float(total["below_share"]))
            expect(f"{at} severity", row[3], float(total["severity"]) if total["below_share"] > 0 else None)
            expect(f"{at} savings", float(row[4]), float(total["mean_savings"]))
            expect(f"{at} predictions", row[7], total["predictions"])
            expect(f"{at} machines", row[6].split(" ")[0],
                   f"{sum(m['below_share'] > 0 for m in predictor['by_machine']):,}")
            expect(f"{at} point", predictor["predictor"] in drawn, True)
        below = [p for p in predictors if p["total"]["below_share"] > 0]
        # The machines in the page's order: by predictions of all predictors below the oracle.
        count = [round(sum(p["by_machine"][m]["below_share"] * p["by_machine"][m]["predictions"] for p in below))
                 for m in range(len(predictors[0]["by_machine"]))]
        order = [m for m in sorted(range(len(count)), key=lambda m: (-count[m], m)) if count[m] > 0]
        order = order[:MOST_MACHINES]
        found = parts(sections[2 * at_section + 1], "table")
        if not order:
            expect(f"{name} tables", len(found), 0)
            continue
        expect(f"{name} columns", [c["head"] for c in found[0]["columns"][2:]], [p["predictor"] for p in below])
        expect(f"{name} machines", len(found[0]["rows"]), len(order))
        for row, m in zip(found[0]["rows"], order):
            machines += 1
            if "machine" in predictors[0]["by_machine"][m]:
                expect(f"{name} machine {m}", row[0], predictors[0]["by_machine"][m]["machine"])
            for cell, predictor in zip(row[2:], below):
                expect(f"{name} machine {m} {predictor['predictor']}", float(cell),
                       float(predictor["by_machine"][m]["below_share"]))
    for line in wrong[:10]:
        print(line)
    if wrong:
        print(f"{len(wrong)} of {figures} figures differ")
        return 1
    print(f"{figures} figures of {len(resources)} resources, {machines} machines: all as in the JSON")
    return 0


sys.exit(main())
