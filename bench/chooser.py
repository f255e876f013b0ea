#!/usr/bin/env python3
"""Would it pay to choose between recommenders, job by job? Replays candidates for one resource on a trace, then lets a
chooser take one of them for each job and day, and prints both frontiers: footprint as a share of the owners' limits at a
share of harm, which is OOM-days for memory and throttled work for CPU. docs/algorithms.md says what came out.

    bench/chooser.py ../shared/traces/bitbrains_rnd/*.csv.gz
    bench/chooser.py --generated
    bench/chooser.py --resource cpu ../shared/traces/bitbrains_rnd/*.csv.gz
    bench/chooser.py --block 2 --from-day 31 --keep 0 ../shared/traces/bitbrains_rnd/*.csv.gz    # a part, held out

Each midnight the chooser takes the candidate with the least tasks x limit + price x expected harm of the day. For memory
that is the chance of an OOM-day under this candidate's past limits: the job's own days (they lose --fade a day), and the
fleet's as --own-days further days. For CPU it is the work above those limits: the job's own, and the fleet's share of such
work, times the job's mean work, as --own-days further days. The candidate in use stays if it costs at most --keep more.
Reads the compact Bitbrains format and plain CSV. About 6 minutes for the memory of Bitbrains, TIMECPU for its CPU.
"""
import argparse
import array
import collections
import csv
import gzip
import json
import math
import pathlib
import subprocess
import sys
import tempfile

WINDOW_S, WINDOWS_PER_DAY = 300, 288
PRIOR_DAYS = 20  # that a candidate's prior harm counts as, before the fleet has any day of it

# A job's day under one candidate: the limit at its start, the mean limit of all tasks, the harm, the mean number of tasks,
# and what harm is a share of. Memory: 0 or 1 of 1 day. CPU: core-days above the limit, of those used.
Day = collections.namedtuple("Day", "start limit harm tasks exposure")


class Memory:
    """Harm is a day on which the usage of a task was above the limit."""

    harm, shares, places = "OOM-days", (0.01, 0.02, 0.03, 0.05, 0.08), (0, 2)
    sets, every = ("analogs", "moving_window", "both"), "both"
    prices = [0.1 * 2**k * 2**30 for k in range(15)]  # bytes of an OOM-day
    prior = 0.03
    orders = (0.01, 0.02, 0.03, 0.05, 0.08, 0.13)

    def candidates(self):
        """name -> (set, recommender, settings)"""
        found = {f"analogs, ordered {100 * share:g} %": ("analogs", "analogs", {"analogs.memory_oom_days": share})
                 for share in self.orders}
        for days, scale in [(2, 1), (3, 1), (4, 1), (5, 1), (7, 1), (10, 1), (14, 1), (28, 1),
                            (4, 0.5), (7, 0.5), (14, 0.5), (4, 2), (7, 2), (14, 2)]:
            found[f"peak of {days} days, margin x{scale:g}"] = (
                "moving_window", "moving_window", {"moving_window.peak_days": days, "moving_window.margin_scale": scale,
                                                   "moving_window.oom_tolerance": "minimal"})
        return found

    def reader(self, head):
        """A row -> (task, usage). Tasks are not told apart: the highest counts."""
        at, scale = (head.index("mem_kb"), 1024) if "mem_kb" in head else (head.index("memory_bytes"), 1)
        return lambda row: ("", scale * float(row[at]))

    def job_of(self, rows, windows, first, bitbrains):
        """By window: the highest usage of a task (< 0: not measured), and how many tasks"""
        values, tasks = array.array("d", [-1]) * windows, array.array("H", [0]) * windows
        for window, usage in zip(*rows[""]):
            i = window - first
            values[i] = max(values[i], usage)
            # A second row of a Bitbrains window is a duplicate, not a second task.
            tasks[i] = 1 if bitbrains else tasks[i] + 1
        return values, tasks

    def day_of(self, job, changes, begin, at):
        """The Day that begins at window index `begin` (None: no usage), and the next change"""
        usage, tasks = job
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
        return (None if start is None else Day(start, total / WINDOWS_PER_DAY, over, count / measured, 1)), at

    def frontier(self, points):
        return points


class Cpu:
    """Harm is the work above the limit, which is throttled."""

    harm, shares, places = "throttled work", (0.0005, 0.001, 0.002, 0.003, 0.005), (2, 3)
    sets, every = ("work_function", "windows", "ensemble", "all"), "all"
    prices = [10 * 2**k for k in range(15)]  # of a core-day above the limit, in core-days reserved
    prior = 0.001
    orders = (0.0002, 0.0003, 0.0005, 0.001, 0.002, 0.003, 0.005, 0.01)

    def candidates(self):
        """name -> (set, recommender, settings)"""
        found = {f"work_function, ordered {100 * share:g} %": (
            "work_function", "work_function", {"work_function.cpu_throttled": share}) for share in self.orders}
        for days, margin in [(1, 0.15), (2, 0.15), (4, 0.15), (7, 0.15), (14, 0.15), (28, 0.15),
                             (1, 0), (4, 0), (14, 0), (1, 0.5), (4, 0.5), (14, 0.5)]:
            found[f"peak of {days} days + {100 * margin:g} %"] = (
                "windows", "peak", {"peak.days": days, "peak.margin": margin})
        for job_class, statistic in (("batch", "average"), ("serving_tolerant", "p90"), ("serving", "p95")):
            for scale in (0.5, 1, 2):
                found[f"{statistic}, margin scale {scale:g}"] = (
                    "windows", "moving_window", {"moving_window.job_class": job_class,
                                                 "moving_window.margin_scale": scale})
        for price in (100, 300, 1000, 3000):
            found[f"ensemble, w_over {price}"] = ("ensemble", "ensemble", {"ensemble.cpu_w_over": price})
        return found

    def reader(self, head):
        """A row -> (task, usage in cores)"""
        if "cpu_mhz" in head:
            cores, cap, used = (head.index(name) for name in ("cores", "cpu_cap_mhz", "cpu_mhz"))
            return lambda row: ("", float(row[cores]) * float(row[used]) / float(row[cap]))
        task, used = head.index("task"), head.index("cpu_cores")
        return lambda row: (row[task], float(row[used]))

    def job_of(self, rows, windows, first, bitbrains):
        """By window: the mean usage of each task (0 also where it was not measured), and how many were measured"""
        usages, tasks = [], array.array("H", [0]) * windows
        for of_task in rows.values():
            total, rows_of = array.array("d", [0]) * windows, array.array("H", [0]) * windows
            for window, usage in zip(*of_task):
                i = window - first
                tasks[i] += rows_of[i] == 0
                total[i] += usage
                rows_of[i] += 1
            usages.append(array.array("d", (t / n if n else 0 for t, n in zip(total, rows_of))))
        return usages, tasks

    def day_of(self, job, changes, begin, at):
        """The Day that begins at window index `begin` (None: no usage), and the next change"""
        usages, tasks = job
        start, total, over, work, count, measured = None, 0.0, 0.0, 0.0, 0, 0
        limit = changes[at - 1][1] if at else None
        i, end = begin, begin + WINDOWS_PER_DAY
        while i < end:
            while at < len(changes) and changes[at][0] <= i:
                limit = changes[at][1]
                at += 1
            stop = min(end, changes[at][0]) if at < len(changes) else end
            present = tasks[i:stop]
            if limit is not None and any(present):
                start = limit if start is None else start
                total += limit * sum(present)
                count += sum(present)
                measured += len(present) - present.count(0)
                for values in usages:
                    part = values[i:stop]
                    work += sum(part)
                    if max(part) > limit:
                        over += sum(value - limit for value in part if value > limit)
            i = stop
        if start is None:
            return None, at
        return Day(start, total / WINDOWS_PER_DAY, over / WINDOWS_PER_DAY, count / measured, work / WINDOWS_PER_DAY), at

    def frontier(self, points):
        """Those with no smaller footprint at no more harm: the windows and percentiles of one set lie on many curves."""
        return [(foot, over) for foot, over in points
                if not any(f < foot and o <= over or f <= foot and o < over for f, o in points)]


RESOURCES = {"memory": Memory(), "cpu": Cpu()}


class Usage:
    """Usage of one resource by job: what the resource's job_of gives."""

    def __init__(self, paths, resource):
        rows = {}  # job -> task -> its windows and usages, as read
        for path in paths:
            with gzip.open(path, "rt") as lines:
                reader = csv.reader(lines)
                head = next(reader)
                bitbrains = "mem_kb" in head
                job_at, time_at = (head.index(name) for name in (("vm", "ts_s") if bitbrains else ("job", "time")))
                read = resource.reader(head)
                for row in reader:
                    task, usage = read(row)
                    of_task = rows.setdefault(row[job_at], {})
                    windows, values = of_task.setdefault(task, (array.array("i"), array.array("d")))
                    windows.append(int(float(row[time_at])) // WINDOW_S)
                    values.append(usage)
        every = [windows for tasks in rows.values() for windows, _ in tasks.values()]
        first = min(min(windows) for windows in every) // WINDOWS_PER_DAY
        self.first_window = first * WINDOWS_PER_DAY
        self.days = max(max(windows) for windows in every) // WINDOWS_PER_DAY + 1 - first
        self.jobs = {job: resource.job_of(tasks, self.days * WINDOWS_PER_DAY, self.first_window, bitbrains)
                     for job, tasks in sorted(rows.items(), key=lambda item: (len(item[0]), item[0]))}


def replay(args, paths, recommender, settings, decisions):
    command = [args.taut, "replay", *paths, "--warmup", args.warmup, "--recommender", recommender,
               "--resource", args.resource, "--decisions", decisions, "--output", "json", "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    lanes = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)["lanes"]
    changes = {}
    with gzip.open(decisions, "rt") as lines:
        for row in csv.DictReader(lines):
            changes.setdefault(row["job"], []).append((int(row["ts_s"]) // WINDOW_S, float(row["limit"])))
    return lanes[0], changes


def days_of(resource, usage, changes):
    """job -> its Day of each day, or None"""
    found = {}
    for job, values in usage.jobs.items():
        moved = [(window - usage.first_window, limit) for window, limit in changes.get(job, [])]
        at, days = 0, []
        for day in range(usage.days):
            outcome, at = resource.day_of(values, moved, day * WINDOWS_PER_DAY, at)
            days.append(outcome)
        found[job] = days
    return found


def scored(args, usage):
    """The jobs and the days that are scored: of all, or of the odd (1) or even (2) blocks of 25 jobs."""
    jobs = {job for i, job in enumerate(usage.jobs) if args.block == 0 or i // 25 % 2 == args.block - 1}
    first = max(args.from_day, int(args.warmup.removesuffix("d")))
    return jobs, range(first, min(args.to_day, usage.days))


def experience(args, usage, tables, prior_share):
    """job -> day -> (days, each candidate's expected harm times these), from the days before; None: no usage"""
    own = {job: [0.0] * len(tables) for job in usage.jobs}
    own_days, own_exposure = dict.fromkeys(usage.jobs, 0.0), dict.fromkeys(usage.jobs, 0.0)
    fleet, fleet_days = [0.0] * len(tables), 0.0
    found = {job: [] for job in usage.jobs}
    for day in range(usage.days):
        prior = [(f + prior_share * PRIOR_DAYS) / (fleet_days + PRIOR_DAYS) for f in fleet]
        happened, exposed = [0] * len(tables), 0
        for job in usage.jobs:
            today = [table[job][day] for table in tables]
            if today[0] is None:
                found[job].append(None)
                continue
            fleets = args.own_days * (own_exposure[job] / own_days[job] if own_days[job] else 1)
            found[job].append((own_days[job] + args.own_days, [o + fleets * p for o, p in zip(own[job], prior)]))
            exposed += today[0].exposure
            own_days[job] = args.fade * own_days[job] + 1
            own_exposure[job] = args.fade * own_exposure[job] + today[0].exposure
            for k, t in enumerate(today):
                own[job][k] = args.fade * own[job][k] + t.harm
                happened[k] += t.harm
        if exposed:
            fleet = [args.fade * f + h / exposed for f, h in zip(fleet, happened)]
            fleet_days = args.fade * fleet_days + 1
    return found


def choose(args, usage, tables, harms, price):
    """(resource-days, share of harm) of the chooser over `tables`, one days_of a candidate; `harms`: their experience."""
    total = harm = exposure = 0
    scored_jobs, scored_days = scored(args, usage)
    for job in (job for job in usage.jobs if job in scored_jobs):
        kept, tasks = None, 1
        for day, known in enumerate(harms[job]):
            if known is None:
                continue
            today = [table[job][day] for table in tables]
            each = price / tasks
            cost = [t.start + each * h / known[0] for t, h in zip(today, known[1])]
            best = min(range(len(cost)), key=cost.__getitem__)
            if kept is None or cost[kept] > cost[best] * (1 + args.keep):
                kept = best
            taken = today[kept]
            tasks = taken.tasks
            if day in scored_days:
                total, harm, exposure = total + taken.limit, harm + taken.harm, exposure + taken.exposure
    return total, harm / (exposure or 1)


def at_share(points, share):
    """The footprint at a share of harm, between the two nearest points; nan outside."""
    points = sorted((over, foot) for foot, over in points)
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x0 <= share <= x1:
            return y0 + (y1 - y0) * (share - x0) / (x1 - x0) if x1 > x0 else min(y0, y1)
    return math.nan


def row(resource, name, points):
    points = resource.frontier(points)
    print(f"{name:<34}" + "".join(f"{at_share(points, share):8.3f}" for share in resource.shares), flush=True)


def replayed(args, resource, usage, paths, folder):
    """set -> (name, footprint, share of harm) of its candidates; name -> days_of; the footprint of a resource-day"""
    scored_jobs, scored_days = scored(args, usage)
    warmup_days = int(args.warmup.removesuffix("d"))
    sets, tables, unit = {}, {}, None
    for name, (group, recommender, settings) in resource.candidates().items():
        lane, changes = replay(args, paths, recommender, settings, f"{folder}/decisions.csv.gz")
        tables[name] = days_of(resource, usage, changes)
        if unit is None:  # in shares of the limits of all owners, whatever part is scored
            unit = lane["footprint_of_owner"] / sum(
                d.limit for days in tables[name].values() for d in days[warmup_days:] if d)
            unit *= (usage.days - warmup_days) * len(usage.jobs) / (len(scored_days) * len(scored_jobs))
        kept = [days[day] for job, days in tables[name].items() if job in scored_jobs for day in scored_days if days[day]]
        total, share = sum(d.limit for d in kept), sum(d.harm for d in kept) / sum(d.exposure for d in kept)
        sets.setdefault(group, []).append((name, unit * total, share))
        print(f"{name:<34}{unit * total:8.3f} @ {100 * share:.{resource.places[1]}f} %", flush=True)
    return sets, tables, unit


def table(args, paths, folder):
    resource = RESOURCES[args.resource]
    usage = Usage(paths, resource)
    sets, tables, unit = replayed(args, resource, usage, paths, folder)
    print(f"\n{f'at {resource.harm} of':<34}"
          + "".join(f"{100 * share:6.{resource.places[0]}f} %" for share in resource.shares))
    for group, members in sets.items():
        plain = [(foot, over) for name, foot, over in members if not name.endswith(("x0.5", "x2"))]
        row(resource, f"{group}, usual margin" if len(plain) < len(members) else group, plain)
    for group in resource.sets:
        if args.sets and group not in args.sets:
            continue
        members = [tables[name] for part, rows in sets.items() if group in (part, resource.every) for name, _, _ in rows]
        harms = experience(args, usage, members, resource.prior)
        points = [choose(args, usage, members, harms, price) for price in resource.prices]
        row(resource, f"chooser over {group}", [(unit * total, over) for total, over in points])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--resource", choices=RESOURCES, default="memory")
    parser.add_argument("--generated", action="store_true", help="a made cell of 200 jobs in place of a trace")
    parser.add_argument("--own-days", type=float, default=100, help="days of a job's own that the fleet's count as")
    parser.add_argument("--fade", type=float, default=0.97, help="what is left of a day's weight on the next")
    parser.add_argument("--keep", type=float, default=0.03, help="the candidate in use stays if it costs so much more")
    parser.add_argument("--block", type=int, default=0, choices=(0, 1, 2), help="score the odd or even blocks of 25 jobs")
    parser.add_argument("--from-day", type=int, default=0)
    parser.add_argument("--to-day", type=int, default=10**6)
    parser.add_argument("--sets", type=lambda text: text.split(","), help="choosers over these candidates alone; memory: analogs, moving_window, "
                        "both; cpu: work_function, windows, ensemble, all")
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
