#!/usr/bin/env python3
"""Compares the limits of `taut explain --output json` with those in force in the decisions of a replay.

    explained_limits.py EXPLAINED.json DECISIONS.csv TIME_S
"""
import csv
import json
import sys


def main():
    explained = json.load(open(sys.argv[1]))
    at = int(sys.argv[3])
    in_force = {}
    with open(sys.argv[2], newline="") as rows:
        for row in csv.DictReader(rows):
            if row["job"] == explained["job"] and int(row["ts_s"]) <= at:
                in_force[row["recommender"], row["resource"]] = float(row["limit"])
    checked = 0
    for decision in explained["decisions"]:
        lane = decision["recommender"], decision["resource"]
        if decision["limit"] != in_force[lane]:
            sys.exit(f"{lane}: explained as {decision['limit']}, decided {in_force[lane]}")
        checked += 1
    print(f"{checked} limits explained as decided")


if __name__ == "__main__":
    main()
