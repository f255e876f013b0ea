#!/usr/bin/env python3
"""Recounts `taut compact --predictors ... --placements`: USAGE.csv MACHINES.csv PLACEMENTS.csv RESULT.json

Checks every machine of every trial under a predictor of whole machines: its peak, from the usage of its tasks before the
time of the cell, is at most its capacity. Recounts for every experiment the later machine-hours whose usage is more
than the capacity, and compares them with --json. The usage has the columns time, job, task, cpu_cores, memory_bytes, cpu_limit and
memory_limit. Exits 1 if anything differs.
"""
import collections
import csv
import json
import math
import sys

WINDOW, DAY = 300, 86400
ROUNDING = 2e-3  # error of a task's usage in 16 bits
MIN_SAMPLES = 24


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        yield from csv.DictReader(file)


def setting(spec, name, default):
    for part in spec.split(":")[1:]:
        key, _, value = part.partition("=")
        if key == name:
            unit = {"m": 1 / 60, "h": 1, "d": 24, "w": 168}.get(value[-1])  # of times: hours
            return float(value) if unit is None else float(value[:-1]) * unit
    return default


def peak(spec, tasks, limits, until):
    """Returns the peak of tasks, which are dicts of usage by window; None: this program does not know the predictor."""
    name = spec.split(":")[0]
    warm = [i for i, t in enumerate(tasks) if len(t) >= MIN_SAMPLES]
    cold = sum(l for i, l in enumerate(limits) if i not in warm)
    all_warm = sum(limits[i] for i in warm)
    hours = {"n-sigma": setting(spec, "window", 10), "machine-percentile": setting(spec, "window", 168),
             "machine-max": setting(spec, "window", 168)}.get(name)
    if hours is None:
        return None
    usage, limit = collections.defaultdict(float), collections.defaultdict(float)
    for i in warm:
        for w in range(max(0, until - round(hours * 12)), until):
            if w in tasks[i]:
                usage[w] += min(tasks[i][w], limits[i])
                limit[w] += limits[i]
    if name == "machine-max":
        return min(all_warm, setting(spec, "factor", 1) * max(usage.values(), default=0)) + cold
    ratios = sorted(usage[w] / limit[w] for w in usage if 2 * limit[w] >= all_warm)
    if name == "n-sigma":
        if len(ratios) < 2:
            return all_warm + cold
        mean = sum(ratios) / len(ratios)
        deviation = math.sqrt(sum((r - mean) ** 2 for r in ratios) / (len(ratios) - 1))
        ratio = mean + setting(spec, "n", 5) * deviation
    else:
        if not ratios:
            return all_warm + cold
        at = setting(spec, "percentile", 99) / 100 * (len(ratios) - 1)
        low = int(at)
        high = min(low + 1, len(ratios) - 1)
        ratio = ratios[low] + (at - low) * (ratios[high] - ratios[low])
    return min(1, ratio) * all_warm + cold


def main():
    usage_path, machines_path, placements_path, result_path = sys.argv[1:]
    with open(result_path, encoding="utf-8") as file:
        result = json.load(file)
    until = result["usage"]["until_seconds"] // WINDOW
    end = until + result["after_seconds"] // WINDOW
    capacity = {m["name"]: (float(m["cpu_cores"]), float(m["memory_gib"]) * 2 ** 30) for m in rows(machines_path)}
    before = [collections.defaultdict(dict), collections.defaultdict(dict)]
    after = [collections.defaultdict(dict), collections.defaultdict(dict)]
    limits = {}
    for row in rows(usage_path):
        window, task = int(row["time"]) // WINDOW, (row["job"], int(row["task"]))
        if window >= end:
            continue
        for r, column in enumerate(("cpu_cores", "memory_bytes")):
            (before if window < until else after)[r][task][window] = float(row[column])
        if window < until:
            limits[task] = float(row["cpu_limit"]), float(row["memory_limit"])
    # The recorded tasks of a job that were measured in its last hour.
    last = collections.defaultdict(int)
    for (job, _), windows in before[0].items():
        last[job] = max(last[job], max(windows))
    there = collections.defaultdict(list)
    for job, task in sorted(before[0]):
        if max(before[0][job, task]) > last[job] - 12:
            there[job].append((job, task))
    packed = collections.defaultdict(list)
    names = {}
    for row in rows(placements_path):
        if row["machine"] == "":
            continue
        key = row["experiment"], row["trial"], row["machine"]
        names[key] = row["machine_name"]
        recorded = there[row["job"]]
        if recorded:
            packed[key].append(recorded[int(row["task"]) % len(recorded)])
    wrong, peaks, over = [], 0, collections.defaultdict(lambda: [0, 0, 0, 0])
    for (experiment, trial, machine), tasks in packed.items():
        has = capacity[names[experiment, trial, machine]]
        kind, _, spec = experiment.partition(":")
        for r in range(2):
            if kind != "machines":
                break
            own = peak(spec, [before[r][t] for t in tasks], [limits[t][r] for t in tasks], until)
            if own is None:
                continue
            peaks += 1
            if own > has[r] * (1 + ROUNDING):
                wrong.append(f"{experiment}, trial {trial}, machine {machine}: {own} of {has[r]}")
        for hour in range(until, end, 12):
            seen, full = False, [False, False]
            for w in range(hour, min(hour + 12, end)):
                for r in range(2):
                    used = [min(after[r][t][w], limits[t][r]) for t in tasks if w in after[r][t]]
                    seen = seen or bool(used)
                    full[r] = full[r] or sum(used) > has[r] * (1 + 1e-6)
            for i, counts in enumerate((seen, full[0], full[1], any(full))):
                over[experiment][i] += counts
    for one in result["experiments"]:
        if "after" not in one or one["experiment"].startswith("limits:"):
            continue  # tasks use at most their limits, which the result lacks for a recommender
        a = one["after"]
        told = [a["machine_hours"], a["over_cpu"], a["over_memory"], a["over_either"]]
        if told != over[one["experiment"]]:
            wrong.append(f"{one['experiment']}: {told} told, {over[one['experiment']]} counted")
    for line in wrong[:10]:
        print(line)
    hours = sum(o[0] for o in over.values())
    print(f"{peaks} peaks, {hours} machine-hours of {len(over)} experiments: " +
          (f"{len(wrong)} differ" if wrong else "as told"))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
