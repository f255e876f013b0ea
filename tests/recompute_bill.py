#!/usr/bin/env python3
"""Recomputes the charges of `taut get bills --json` from its trace: TRACE.csv.gz BILL.json TIER=RULE,PRICES...

PRICES: CORE_HOUR,GIB_HOUR, and for each later price FROM_SECONDS,CORE_HOUR,GIB_HOUR. RULE: reservation or usage."""
import collections
import csv
import gzip
import json
import sys


def price_at(prices, second):
    return [rates for from_s, rates in prices if from_s <= second][-1]


def main():
    with open(sys.argv[2], encoding="utf-8") as file:
        bill = json.load(file)
    tiers = {}
    for text in sys.argv[3:]:
        name, spec = text.split("=")
        rule, *numbers = spec.split(",")
        prices = [(-1e18, tuple(map(float, numbers[:2])))]
        for i in range(2, len(numbers), 3):
            prices.append((float(numbers[i]), tuple(map(float, numbers[i + 1:i + 3]))))
        tiers[name] = (rule, prices)
    of_job = {job["job"]: job for job in bill["by_job"]}
    charged = collections.Counter()
    with gzip.open(sys.argv[1], "rt", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            second = int(row["time"])
            if not bill["start_s"] <= second < bill["end_s"]:
                continue
            rule, prices = tiers[of_job[row["job"]]["tier"]]
            core_hour, gib_hour = price_at(prices, second)
            cpu, memory = (row["cpu_limit"], row["memory_limit"]) if rule == "reservation" else (row["cpu_cores"], row["memory_bytes"])
            charged[row["job"]] += (float(cpu) * core_hour + float(memory) / 2**30 * gib_hour) * 300 / 3600
    wrong = [(name, charged[name], job["charged"]) for name, job in of_job.items()
             if abs(charged[name] - float(job["charged"])) > 1e-5 * charged[name] + 1e-5]
    if wrong or not of_job:
        sys.exit(f"{len(wrong)} of {len(of_job)} jobs differ, the first: {wrong[:1]}")
    print(f"recomputed {len(of_job)} jobs: the charges agree")


if __name__ == "__main__":
    main()
