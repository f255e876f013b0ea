#!/usr/bin/env python3
"""Compares the tables of `taut overcommit --html` with its --json.  check_overcommit_page.py PAGE JSON"""
import json
import re
import sys
from html import unescape

MOST_MACHINES = 20


def tables(section):
    """Returns the rows of cells of each table."""
    for table in re.findall(r"<table>(.*?)</table>", section):
        rows = [re.findall(r"<t[hd]>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>(.*?)</tr>", table)]
        yield [[unescape(cell) for cell in row] for row in rows]


def percent(share, digits):
    return f"{100 * share:.{digits}f} %"


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        sections = re.split("<h2>", f.read())[1:]
    with open(sys.argv[2], encoding="utf-8") as f:
        resources = json.load(f)["resources"]
    figures, machines, wrong = 0, 0, []

    def expect(what, shown, value):
        nonlocal figures
        figures += 1
        if shown != value:
            wrong.append(f"{what}: the page has {shown}, the JSON {value}")

    if len(sections) != len(resources):
        sys.exit(f"{len(sections)} resources on the page, {len(resources)} in the JSON")
    for section, resource in zip(sections, resources):
        name, predictors = resource["resource"], resource["predictors"]
        found = list(tables(section))
        for row, predictor in zip(found[0][1:], predictors, strict=True):
            total = predictor["total"]
            at = f"{name} {predictor['predictor']}"
            expect(at, row[0], predictor["predictor"])
            expect(f"{at} footprint", row[1], percent(total["footprint"], 1))
            expect(f"{at} below", row[2], percent(total["below_share"], 2))
            expect(f"{at} severity", row[3], percent(total["severity"], 1) if total["below_share"] > 0 else "-")
            expect(f"{at} savings", row[4], percent(total["mean_savings"], 1))
            expect(f"{at} predictions", row[7], f"{total['predictions']:,}")
            expect(f"{at} machines", row[6].split(" ")[0],
                   f"{sum(m['below_share'] > 0 for m in predictor['by_machine']):,}")
            expect(f"{at} chart", "<title>%s: " % predictor["predictor"] in section, True)
        below = [p for p in predictors if p["total"]["below_share"] > 0]
        # The machines in the page's order: by predictions of all predictors below the oracle.
        count = [round(sum(p["by_machine"][m]["below_share"] * p["by_machine"][m]["predictions"] for p in below))
                 for m in range(len(predictors[0]["by_machine"]))]
        order = [m for m in sorted(range(len(count)), key=lambda m: (-count[m], m)) if count[m] > 0]
        order = order[:MOST_MACHINES]
        if not order:
            expect(f"{name} tables", len(found), 1)
            continue
        expect(f"{name} columns", found[1][0][2:], [p["predictor"] for p in below])
        expect(f"{name} machines", len(found[1]) - 1, len(order))
        for row, m in zip(found[1][1:], order):
            machines += 1
            if "machine" in predictors[0]["by_machine"][m]:
                expect(f"{name} machine {m}", row[0], predictors[0]["by_machine"][m]["machine"])
            for cell, predictor in zip(row[2:], below):
                expect(f"{name} machine {m} {predictor['predictor']}", cell,
                       percent(predictor["by_machine"][m]["below_share"], 1))
    for line in wrong[:10]:
        print(line)
    if wrong:
        print(f"{len(wrong)} of {figures} figures differ")
        return 1
    print(f"{figures} figures of {len(resources)} resources, {machines} machines: all as in the JSON")
    return 0


sys.exit(main())
