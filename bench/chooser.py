#!/usr/bin/env python3
"""Would it pay to choose between recommenders, job by job? Replays candidates for memory on a trace, then lets a chooser
take one of them for each job and day, and prints both frontiers: footprint as a share of the owners' limits at a share
of OOM-days. docs/algorithms.md says what came out.

    bench/chooser.py ../shared/traces/bitbrains_rnd/*.csv.gz
    bench/chooser.py --generated
    bench/chooser.py --block 2 --from-day 31 --keep 0 ../shared/traces/bitbrains_rnd/*.csv.gz    # a part, held out

Each midnight the chooser takes the candidate with the least tasks x limit + price x chance. The chance is that of an OOM-day
under this candidate's past limits: the job's own days (they lose --fade a day), and the fleet's as --own-days further
days. The candidate in use stays if it costs at most --keep more. Reads the compact Bitbrains format and plain CSV.
About 6 minutes for Bitbrains.
"""
import argparse
import array
import csv
import gzip
import json
import math
import pathlib
import subprocess
import sys
import tempfile

WINDOW_S, WINDOWS_PER_DAY = 300, 288
PRIOR_CHANCE, PRIOR_DAYS = 0.03, 20  # of a candidate, before the fleet has any day of it
SHARES = (0.01, 0.02, 0.03, 0.05, 0.08)
ORDERS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.13)
PRICES_GIB = [0.1 * 2**k for k in range(15)]


def candidates():
    """name -> (set, recommender, settings)"""
    found = {f"analogs, ordered {100 * share:g} %": ("analogs", "analogs", {"analogs.memory_oom_days": share})
             for share in ORDERS}
    for days, scale in [(2, 1), (3, 1), (4, 1), (5, 1), (7, 1), (10, 1), (14, 1), (28, 1),
                        (4, 0.5), (7, 0.5), (14, 0.5), (4, 2), (7, 2), (14, 2)]:
        found[f"peak of {days} days, margin x{scale:g}"] = (
            "moving_window", "moving_window", {"moving_window.peak_days": days, "moving_window.margin_scale": scale,
                                               "moving_window.oom_tolerance": "minimal"})
    return found


class Usage:
    """Memory of each job by window: the highest over its tasks (< 0: not measured), and how many tasks."""

    def __init__(self, paths):
        rows = {}  # job -> its windows and usages, as read
        for path in paths:
            with gzip.open(path, "rt") as lines:
                reader = csv.reader(lines)
                head = next(reader)
                bitbrains = "mem_kb" in head
                job_at, time_at, memory_at = (head.index(name) for name in (
                    ("vm", "ts_s", "mem_kb") if bitbrains else ("job", "time", "memory_bytes")))
                scale = 1024 if bitbrains else 1
                for row in reader:
                    windows, values = rows.setdefault(row[job_at], (array.array("i"), array.array("d")))
                    windows.append(int(float(row[time_at])) // WINDOW_S)
                    values.append(scale * float(row[memory_at]))
        first = min(min(windows) for windows, _ in rows.values()) // WINDOWS_PER_DAY
        self.first_window = first * WINDOWS_PER_DAY
        self.days = max(max(windows) for windows, _ in rows.values()) // WINDOWS_PER_DAY + 1 - first
        self.jobs = {}
        for job, (windows, usages) in sorted(rows.items(), key=lambda item: (len(item[0]), item[0])):
            values = array.array("d", [-1]) * (self.days * WINDOWS_PER_DAY)
            tasks = array.array("H", [0]) * (self.days * WINDOWS_PER_DAY)
            for window, usage in zip(windows, usages):
                i = window - self.first_window
                values[i] = max(values[i], usage)
                # A second row of a Bitbrains window is a duplicate, not a second task.
                tasks[i] = 1 if bitbrains else tasks[i] + 1
            self.jobs[job] = values, tasks


def replay(args, paths, recommender, settings, decisions):
    command = [args.taut, "replay", *paths, "--warmup", args.warmup, "--recommender", recommender, "--resource", "memory",
               "--decisions", decisions, "--output", "json", "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    lanes = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["lanes"]
    changes = {}
    with gzip.open(decisions, "rt") as lines:
        for row in csv.DictReader(lines):
            changes.setdefault(row["job"], []).append((int(row["ts_s"]) // WINDOW_S, float(row["limit"])))
    return lanes[0], changes


def day_of(usage, tasks, changes, begin, at):
    """(limit at the day's start, mean limit of all tasks, overrun, mean number of tasks) of a day that begins at window
    index `begin`; and the next change. None: no usage."""
    start, total, over, count, measured = None, 0.0, False, 0, 0
    limit = changes[at - 1][1] if at else None
    for i in range(begin, begin + WINDOWS_PER_DAY):
        while at < len(changes) and changes[at][0] <= i:
            limit = changes[at][1]
            at += 1
        if usage[i] < 0 or limit is None:
            continue
        start = limit if start is None else start
        total += limit * tasks[i]
        count += tasks[i]
        measured += 1
        over = over or usage[i] > limit
    return (None if start is None else (start, total / WINDOWS_PER_DAY, over, count / measured)), at


def days_of(usage, changes):
    """job -> what day_of gives, a day each"""
    found = {}
    for job, (values, tasks) in usage.jobs.items():
        moved = [(window - usage.first_window, limit) for window, limit in changes.get(job, [])]
        at, days = 0, []
        for day in range(usage.days):
            outcome, at = day_of(values, tasks, moved, day * WINDOWS_PER_DAY, at)
            days.append(outcome)
        found[job] = days
    return found


def scored(args, usage):
    """The jobs and the days that are scored: of all, or of the odd (1) or even (2) blocks of 25 jobs."""
    jobs = {job for i, job in enumerate(usage.jobs) if args.block == 0 or i // 25 % 2 == args.block - 1}
    first = max(args.from_day, int(args.warmup.removesuffix("d")))
    return jobs, range(first, min(args.to_day, usage.days))


def choose(args, usage, tables, price):
    """(byte-days, share of OOM-days) of the chooser over `tables`, one days_of a candidate."""
    jobs = list(usage.jobs)
    own = {job: [0.0] * len(tables) for job in jobs}
    own_days = dict.fromkeys(jobs, 0.0)
    fleet, fleet_days = [0.0] * len(tables), 0.0
    in_use, tasks = {}, {}
    total = over = days = 0
    scored_jobs, scored_days = scored(args, usage)
    for day in range(usage.days):
        prior = [(f + PRIOR_CHANCE * PRIOR_DAYS) / (fleet_days + PRIOR_DAYS) for f in fleet]
        happened, active = [0] * len(tables), 0
        for job in jobs:
            today = [table[job][day] for table in tables]
            if today[0] is None:
                continue
            weight = own_days[job] + args.own_days
            each = price / tasks.get(job, 1)
            cost = [t[0] + each * (o + args.own_days * p) / weight for t, o, p in zip(today, own[job], prior)]
            best = min(range(len(cost)), key=cost.__getitem__)
            kept = in_use.get(job)
            if kept is None or cost[kept] > cost[best] * (1 + args.keep):
                in_use[job] = best
            _, mean, overrun, tasks[job] = today[in_use[job]]
            active += 1
            if day in scored_days and job in scored_jobs:
                total, over, days = total + mean, over + overrun, days + 1
            own_days[job] = args.fade * own_days[job] + 1
            for k, t in enumerate(today):
                own[job][k] = args.fade * own[job][k] + t[2]
                happened[k] += t[2]
        if active:
            fleet = [args.fade * f + h / active for f, h in zip(fleet, happened)]
            fleet_days = args.fade * fleet_days + 1
    return total, over / max(1, days)


def at_share(points, share):
    """The footprint at a share of OOM-days, between the two nearest points; nan outside."""
    points = sorted((over, foot) for foot, over in points)
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x0 <= share <= x1:
            return y0 + (y1 - y0) * (share - x0) / (x1 - x0) if x1 > x0 else min(y0, y1)
    return math.nan


def row(name, points):
    print(f"{name:<34}" + "".join(f"{at_share(points, share):8.3f}" for share in SHARES), flush=True)


def table(args, paths, folder):
    usage = Usage(paths)
    scored_jobs, scored_days = scored(args, usage)
    warmup_days = int(args.warmup.removesuffix("d"))
    sets, tables, unit = {}, {}, None
    for name, (group, recommender, settings) in candidates().items():
        lane, changes = replay(args, paths, recommender, settings, f"{folder}/decisions.csv.gz")
        tables[name] = days_of(usage, changes)
        if unit is None:  # in shares of the limits of all owners, whatever part is scored
            unit = lane["footprint_of_owner"] / sum(d[1] for days in tables[name].values() for d in days[warmup_days:] if d)
            unit *= (usage.days - warmup_days) * len(usage.jobs) / (len(scored_days) * len(scored_jobs))
        kept = [days[day] for job, days in tables[name].items() if job in scored_jobs for day in scored_days if days[day]]
        total, over = sum(d[1] for d in kept), sum(d[2] for d in kept) / len(kept)
        sets.setdefault(group, []).append((name, unit * total, over))
        print(f"{name:<34}{unit * total:8.3f} @ {100 * over:.2f} %", flush=True)
    print(f"\n{'at OOM-days of':<34}" + "".join(f"{100 * share:6.0f} %" for share in SHARES))
    for group, members in sets.items():
        plain = [(foot, over) for name, foot, over in members if not name.endswith(("x0.5", "x2"))]
        row(f"{group}, usual margin" if len(plain) < len(members) else group, plain)
    for group in ("analogs", "moving_window", "both"):
        if args.sets and group not in args.sets:
            continue
        members = [tables[name] for part, rows in sets.items() if group in (part, "both") for name, _, _ in rows]
        points = [choose(args, usage, members, price * 2**30) for price in PRICES_GIB]
        row(f"chooser over {group}", [(unit * total, over) for total, over in points])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--generated", action="store_true", help="a made cell of 200 jobs in place of a trace")
    parser.add_argument("--own-days", type=float, default=100, help="days of a job's own that the fleet's count as")
    parser.add_argument("--fade", type=float, default=0.97, help="what is left of a day's weight on the next")
    parser.add_argument("--keep", type=float, default=0.03, help="the candidate in use stays if it costs so much more")
    parser.add_argument("--block", type=int, default=0, choices=(0, 1, 2), help="score the odd or even blocks of 25 jobs")
    parser.add_argument("--from-day", type=int, default=0)
    parser.add_argument("--to-day", type=int, default=10**6)
    parser.add_argument("--sets", type=lambda text: text.split(","), help="analogs, moving_window, both; default all")
    parser.add_argument("--warmup", default="14d", help="whole days")
    parser.add_argument("--taut", default="build/release/bin/taut")
    args = parser.parse_args()
    if args.generated == bool(args.paths):
        parser.error("give a trace, or --generated")
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(path) for path in args.paths]
        if args.generated:
            paths = [pathlib.Path(folder) / "cell.csv.gz"]
            subprocess.run([args.taut, "generate", paths[0], "--jobs", "200", "--days", "42"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        table(args, paths, folder)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"chooser: {error.cmd[1]} failed with exit code {error.returncode}")
