#!/usr/bin/env python3
"""Recounts the kills of `taut overcommit --soft --json` from the rows of --kills: FILE.csv RESULT.json"""
import collections
import csv
import json
import sys

AWAY_S = 900  # from the start of the window of a kill: its rest, and ten minutes


def main():
    kills = collections.Counter()
    full = collections.defaultdict(float)  # by world, time, machine: usage of the victims
    figures = {}
    last, wrong = {}, []  # by world, placement and task: the window of its last kill
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            kills[row["world"], row["tier"]] += 1
            usage, request = float(row["usage"]), float(row["request"])
            kills[row["world"], row["tier"], "within"] += usage <= request
            task, time = (row["world"], row["placement"], row["task"]), int(row["time_s"])
            if time - last.get(task, -AWAY_S) < AWAY_S:
                wrong.append(f"{task}: killed at {last[task]} and at {time}, when it cannot run yet")
            last[task] = time
            if row["world"] == "hard":
                if usage <= request or float(row["machine_usage"]) < usage:
                    wrong.append(f"{task} at {time}: killed at {usage} of {request}")
                continue
            key = row["world"], row["time_s"], row["placement"], row["machine"]
            full[key] += usage
            figures[key] = float(row["machine_usage"]), float(row["machine_memory"])
    # The remaining usage after the kills fits.
    wrong += [f"{key}: {figures[key]} after {gone}" for key, gone in full.items()
              if figures[key][0] <= figures[key][1] or figures[key][0] - gone > figures[key][1] * (1 + 1e-9)]
    with open(sys.argv[2], encoding="utf-8") as file:
        worlds = json.load(file)["worlds"]
    counted = 0
    for world in worlds:
        for tier, figure in world["tiers"].items():
            expected = kills[world["world"], tier], kills[world["world"], tier, "within"]
            counted += figure["kills"]
            if (figure["kills"], figure["within_request"]) != expected:
                wrong.append(f"{world['world']} {tier}: {figure} for {expected}")
        if world["total"]["kills"] != sum(t["kills"] for t in world["tiers"].values()):
            wrong.append(f"{world['world']}: the tiers do not add up")
    for line in wrong:
        print(line)
    print(f"{counted} kills of {len(worlds)} worlds: " +
          (f"{len(wrong)} differ" if wrong else "all as counted"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
