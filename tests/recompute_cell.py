#!/usr/bin/env python3
"""Recomputes figures of `taut simulate` from its events: recompute_cell.py RESULT.json EVENTS.csv

Starts, evictions by cause, task-hours and the delays to a job's first task, of all tiers together, from the rows of
--events, and compares them with --json. Exits 1 with the first that differs.
"""
import collections
import csv
import json
import sys

CLOSE = 1e-3


def main():
    result = json.load(open(sys.argv[1]))
    base, end, warmup = result["runs"][0], result["end_s"], result["warmup_s"]
    submitted, first, running = {}, {}, {}
    starts, hours = 0, 0.0
    evictions = collections.Counter()

    def stop(task, time):
        since = running.pop(task, None)
        return 0.0 if since is None else max(0.0, time - max(since, warmup)) / 3600

    for row in csv.DictReader(open(sys.argv[2])):
        time, job, task = float(row["time_s"]), row["job"], (row["job"], row["task"])
        if row["event"] == "submitted":
            submitted[job] = time
        elif row["event"] == "started":
            starts += 1
            assert task not in running, f"{task} started twice"
            running[task] = time
            first.setdefault(job, time)
        elif row["event"] == "evicted":
            assert task in running, f"{task} evicted without a start"
            if time >= warmup:
                evictions[row["cause"]] += 1
        if row["event"] in ("evicted", "finished", "removed"):
            hours += stop(task, time)
    for task in list(running):
        hours += stop(task, end)
    delays = sorted(first[j] - submitted[j] for j in first if submitted[j] >= warmup)

    def check(what, mine, theirs):
        if abs(mine - theirs) > CLOSE * max(1, abs(theirs)):
            sys.exit(f"{what}: {mine} from the events, {theirs} in the result")

    tiers = base["tiers"]
    check("starts", starts, sum(t["starts"] for t in tiers))
    check("task-hours", hours, sum(t["task_hours"] for t in tiers))
    for cause in tiers[0]["evictions"]:
        check(cause, evictions[cause], sum(t["evictions"][cause] for t in tiers))
    check("jobs that started", len(delays), sum(t["first_task_s"]["count"] for t in tiers))
    print(f"{starts} starts, {sum(evictions.values())} evictions: as in the result")


if __name__ == "__main__":
    main()
