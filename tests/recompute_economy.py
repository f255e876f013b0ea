#!/usr/bin/env python3
"""Recomputes the lines and bills of `taut economy` from its trace and its decisions, without the product's code:
TRACE.csv.gz RESULT.json DECISIONS.csv LINES.csv BILLS.csv TIER=RULE,CORE_HOUR,GIB_HOUR,AVAILABILITY,CREDIT...

RULE: reservation or usage. Availability and credits are by month (UTC). Also checks the invariants of every
pool: usage <= allocation (half more: a trace's limits are soft) <= reservation, and reserved <= capacity."""
import collections
import csv
import datetime
import gzip
import json
import sys

WINDOW = 300
SECONDS = 3600
GIB = 2**30


def read_usage(path):
    """Returns window start -> job -> [cpu limit, memory limit, cpu, memory], summed over tasks."""
    windows = collections.defaultdict(dict)
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            at = int(row["time"]) // WINDOW * WINDOW
            values = [float(row[k]) for k in ("cpu_limit", "memory_limit", "cpu_cores", "memory_bytes")]
            old = windows[at].get(row["job"])
            windows[at][row["job"]] = values if old is None else [a + b for a, b in zip(old, values)]
    return windows


class Pool:
    """One policy: its decisions, in order of time, applied to the usage of every window."""

    def __init__(self, decisions, windows, last, tiers, sold_from):
        self.lines = {}
        self.charges = collections.Counter()  # by group, tier, job, month
        ran, wanted = collections.Counter(), collections.Counter()
        held, runs, ask, group_of = {}, {}, {}, {}
        due = collections.defaultdict(list)
        for row in decisions:
            due[int(row["time_s"])].append(row)
        for at in sorted(windows):
            usage = windows[at]
            month = datetime.datetime.fromtimestamp(at, datetime.timezone.utc).strftime("%Y-%m")
            for job in [j for j in held if last[j] < at]:
                del held[job], runs[job]
            for row in due[at]:
                job = row["job"]
                group_of[job] = row["group"]
                if row["decision"] == "admitted":
                    held[job] = row["tier"]
                if row["decision"] in ("admitted", "resumed"):
                    runs[job] = True
                if row["decision"] == "reclaimed":
                    runs[job] = False
            for job in held:
                if job in usage:
                    ask[job] = usage[job][:2]
            line = [0.0] * 8  # usage, allocation, reservation, reserved; CPU and memory
            for job, tier in held.items():
                for i in range(2):
                    line[4 + i] += ask[job][i]
                    line[6 + i] += ask[job][i] if tier == "production" else 0
                if job not in usage:
                    continue
                if at >= sold_from:
                    wanted[job, month] += 1
                    ran[job, month] += runs[job]
                if not runs[job]:
                    continue
                for i in range(2):
                    line[i] += usage[job][2 + i]
                    line[2 + i] += usage[job][i]
                if at >= sold_from:
                    rule, core, gib = tiers[tier][:3]
                    cpu, memory = usage[job][:2] if rule == "reservation" else usage[job][2:]
                    charge = (cpu * core + memory / GIB * gib) * WINDOW / SECONDS
                    self.charges[group_of[job], tier, job, month] += charge
            self.lines[at] = line
        self.bills = collections.defaultdict(lambda: [0.0, 0.0])
        for (group, tier, job, month), charge in self.charges.items():
            missed = ran[job, month] < tiers[tier][3] * wanted[job, month]
            self.bills[group, tier][0] += charge
            self.bills[group, tier][1] += charge * tiers[tier][4] if missed else 0


def near(a, b):
    return abs(a - b) <= 1e-5 * max(abs(a), abs(b)) + 1e-5


def check_lines(path, policy, pool):
    names = ("usage", "allocation", "reservation", "reserved")
    seen = 0
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["policy"] != policy:
                continue
            seen += 1
            i = 0 if row["resource"] == "cpu" else 1
            given = [float(row[name]) for name in names]
            own = [pool.lines[int(row["time_s"])][2 * k + i] for k in range(4)]
            if not all(map(near, given, own)):
                sys.exit(f"{policy} at {row['time_s']}, {row['resource']}: {given}, recomputed {own}")
            if not given[0] <= given[1] * 1.5 or not given[1] <= given[2] or not given[3] <= float(row["capacity"]):
                sys.exit(f"{policy} at {row['time_s']}, {row['resource']}: the lines are not in their order: {row}")
    if seen != 2 * len(pool.lines):
        sys.exit(f"{policy}: {seen} lines, expected {2 * len(pool.lines)}")


def main():
    trace, result, decisions, lines, bills = sys.argv[1:6]
    tiers = {}
    for text in sys.argv[6:]:
        name, spec = text.split("=")
        rule, *numbers = spec.split(",")
        tiers[name] = (rule, *map(float, numbers))
    windows = read_usage(trace)
    last = {}
    for at in sorted(windows):
        last.update({job: at for job in windows[at]})
    with open(result, encoding="utf-8") as file:
        out = json.load(file)
    with open(decisions, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with open(bills, newline="", encoding="utf-8") as file:
        billed = list(csv.DictReader(file))
    for policy in out["policies"]:
        name = policy["policy"]
        pool = Pool([r for r in rows if r["policy"] in ("*", name)], windows, last, tiers, out["sold_from_s"])
        check_lines(lines, name, pool)
        given = {(r["group"], r["tier"]): r for r in billed if r["policy"] == name}
        if given.keys() != pool.bills.keys():
            sys.exit(f"{name}: bills of {sorted(given)}, recomputed {sorted(pool.bills)}")
        for key, (charges, credits) in pool.bills.items():
            row = given[key]
            if not near(float(row["charges"]), charges) or not near(float(row["credits"]), credits):
                sys.exit(f"{name}: {row}, recomputed {charges}, {credits}")
    print(f"recomputed {len(out['policies'])} policies: lines and bills agree")


if __name__ == "__main__":
    main()
