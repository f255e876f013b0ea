#!/usr/bin/env python3
"""Measures whether choosing a recommender per job saves resources. Replays candidate recommenders for a resource on a trace.
A chooser then picks one candidate for each job and day. Prints the frontiers of the candidates and of the chooser: the
footprint, as a share of the owners' limits, at a share of harm. Harm is OOM-days for memory and throttled work for CPU.
docs/algorithms/experiments.md lists the results.

    bench/chooser.py ../shared/traces/bitbrains_rnd/*.csv.gz
    bench/chooser.py --generated
    bench/chooser.py --resource cpu --hindsight ../shared/traces/bitbrains_rnd/*.csv.gz
    bench/chooser.py --block 2 --from-day 31 --keep 0 ../shared/traces/bitbrains_rnd/*.csv.gz    # a part, held out

Each midnight the chooser picks the candidate with the lowest tasks x limit + price x expected harm of a day. Expected harm
is computed under the candidate's past limits, from the job's own days, whose weight falls by --fade per day, and from the
fleet's days, which count like --own-days further days of the job. For memory, expected harm is the chance of an OOM-day.
For CPU it is the work above the limits; the fleet's part is the fleet's share of such work times the job's mean work. The
current candidate stays if it costs at most --keep more. Reads the compact Bitbrains format and plain CSV. Takes about
2 minutes for a resource of Bitbrains.
"""
import argparse
import csv
import gzip
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from chooser_resources import RESOURCES, WINDOW_S, WINDOWS_PER_DAY, Usage

PRIOR_DAYS = 20  # weight, in days, of a candidate's prior harm while the fleet has no days under this candidate

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
    """Returns job -> list with a Day, or None, for each day."""
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
    """Returns the scored jobs and days. --block selects all blocks of 25 jobs (0), the odd blocks (1) or the even blocks (2)."""
    jobs = {job for i, job in enumerate(usage.jobs) if args.block == 0 or i // 25 % 2 == args.block - 1}
    first = max(args.from_day, int(args.warmup.removesuffix("d")))
    return jobs, range(first, min(args.to_day, usage.days))


def experience(args, usage, tables, prior_share):
    """Returns job -> day -> (days, each candidate's expected harm times days), computed from the days before; None: no usage."""
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
    """Returns (resource-days, share of harm) of the chooser. `tables` has a result of days_of() per candidate, and `harms` is
    the result of experience() for these tables."""
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


def hindsight(args, usage, tables, price):
    """Returns (resource-days, share of harm) if each job has the candidate that costs least over the scored days."""
    total = harm = exposure = 0
    scored_jobs, scored_days = scored(args, usage)
    for job in (job for job in usage.jobs if job in scored_jobs):
        kept = [[table[job][day] for day in scored_days if table[job][day]] for table in tables]
        sums = [(sum(d.limit for d in days), sum(d.harm for d in days)) for days in kept]
        limit, harmed = min(sums, key=lambda both: both[0] + price * both[1])
        total, harm, exposure = total + limit, harm + harmed, exposure + sum(d.exposure for d in kept[0])
    return total, harm / (exposure or 1)


def at_share(points, share):
    """Returns the footprint at a share of harm, interpolated between the two nearest points; NaN outside of the points."""
    points = sorted((over, foot) for foot, over in points)
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x0 <= share <= x1:
            return y0 + (y1 - y0) * (share - x0) / (x1 - x0) if x1 > x0 else min(y0, y1)
    return math.nan


def row(resource, name, points):
    points = resource.frontier(points)
    print(f"{name:<34}" + "".join(f"{at_share(points, share):8.3f}" for share in resource.shares), flush=True)


def replayed(args, resource, usage, paths, folder):
    """Returns three values: set -> list of (name, footprint, share of harm) of the set's candidates; name -> result of
    days_of(); and the footprint of a resource-day."""
    scored_jobs, scored_days = scored(args, usage)
    warmup_days = int(args.warmup.removesuffix("d"))
    sets, tables, unit = {}, {}, None
    for name, (group, recommender, settings) in resource.candidates().items():
        lane, changes = replay(args, paths, recommender, settings, f"{folder}/decisions.csv.gz")
        tables[name] = days_of(resource, usage, changes)
        if unit is None:  # share of the limits of all owners, even if only a part of the VMs is scored
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
        if args.hindsight:
            points = [hindsight(args, usage, members, price) for price in resource.prices]
            row(resource, f"in hindsight over {group}", [(unit * total, over) for total, over in points])


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
    parser.add_argument("--sets", type=lambda text: text.split(","), help="analogs, moving_window, both; for CPU "
                        "work_function, windows, ensemble, all; default all of them")
    parser.add_argument("--hindsight", action="store_true",
                        help="also what the best single candidate for each job costs, chosen with the scored days known")
    parser.add_argument("--warmup", default="14d", help="whole days")
    parser.add_argument("--taut", default="build/release/bin/taut")
    args = parser.parse_args()
    if args.generated == bool(args.paths):
        parser.error("give a trace, or --generated")
    if unknown := set(args.sets or []) - set(RESOURCES[args.resource].sets):
        parser.error(f"no candidates {', '.join(sorted(unknown))}; {args.resource} has "
                     f"{', '.join(RESOURCES[args.resource].sets)}")
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(path) for path in args.paths]
        if args.generated:
            paths = [pathlib.Path(folder) / "cell.csv.gz"]
            subprocess.run([args.taut, "trace", "generate", paths[0], "--jobs", "200", "--days", "42"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        table(args, paths, folder)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"chooser: {error.cmd[1]} failed with exit code {error.returncode}")
