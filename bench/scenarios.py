#!/usr/bin/env python3
"""Replays synthetic jobs with named usage patterns (growth, cron peaks, leaks, deploys, ...) under every recommender, and prints
one Markdown table for memory and one for CPU. Each scenario is a separate trace with several copies of a job, which differ
in size and phase, and 60 ordinary jobs (`taut trace generate`) as the fleet to learn from. Only the scenario's jobs are
measured, over 56 days, of which the first 14 are warm-up. The results are reproducible.

    bench/scenarios.py
    bench/scenarios.py --brief --scenarios growth-20,leak --recommenders peak,analogs --json result.json
    bench/scenarios.py --scenarios deploy --keep traces    (then: taut explain traces/*.csv.gz --job deploy/0 --at 40d)

Columns:
  over-days         share of job-days with a window above the limit (memory: OOM-days)
  windows over      share of windows with usage above the limit
  windows/over-day  number of windows above the limit per over-day
  of peak           footprint (limit x time) relative to the job's highest usage of each day; 1.00: each day was known ahead
  of owner's        footprint relative to the owner's limit
  changes/day       changes of the limit per job-day
  throttled         share of CPU usage above the limit
  kills/week        OOM kills per job if a task above its limit is killed and restarts (`taut replay --feedback oom-restart`)
  cut               share of CPU usage above the limit @ footprint of peak, if the limit cuts usage (same option);
                    all other columns use the recorded usage
"""
import argparse
import gzip
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

DAYS, WARMUP_DAYS = 56, 14
WINDOW, DAY = 300, 86400
PER_DAY = DAY // WINDOW
MIB, GIB = 1 << 20, 1 << 30
FLEET_JOBS, FLEET_SEED = 60, 7
RESOURCES = ("memory", "cpu")
SWING = [math.sin(2 * math.pi * (i / PER_DAY - 8 / 24)) for i in range(PER_DAY)]  # highest at 14:00


class Job:
    """A serving job with a daily season and noise; scenarios override the methods in which they differ.

    memory, cpu: usage in a window as a factor of the base; None if the job does not run
    memory_limit, cpu_limit: the owner's limits as factors of the base
    """

    def __init__(self, copy):
        self.copy = copy
        self.memory_base = 192 * MIB * 2 ** (0.8 * copy)  # 192 MiB to 9 GiB in 8 copies
        self.cpu_base = 0.15 * 2 ** (0.7 * copy)          # 0.15 to 4.5 cores
        self.memory_swing, self.cpu_swing = 0.08, 0.35
        self.memory_noise, self.cpu_noise = 0.01, 0.08
        self.memory_limit, self.cpu_limit = 1.6, 2.4

    def memory(self, window):
        return 1

    def cpu(self, window):
        return self.memory(window)


class Growth(Job):
    """Usage grows steadily, by the share `weekly` per week."""

    def __init__(self, copy, weekly, first_day, last_day):
        super().__init__(copy)
        self.weekly, self.first, self.last = weekly, first_day * PER_DAY, last_day * PER_DAY
        self.memory_base /= 4  # prevents a huge job at the end of the growth
        highest = self.memory(DAYS * PER_DAY)
        self.memory_limit, self.cpu_limit = 1.4 * highest, 2 * highest

    def memory(self, window):
        return self.weekly ** ((min(max(window, self.first), self.last) - self.first) / (7 * PER_DAY))


class Periodic(Job):
    """Every `days` days, usage is `height` times as high for some windows."""

    def __init__(self, copy, days, height, length, day, minute):
        super().__init__(copy)
        self.period, self.height, self.length = days * PER_DAY, height, length
        self.start = day * PER_DAY + minute * 60 // WINDOW
        self.memory_limit, self.cpu_limit = 1.3 * height, 2 * height

    def memory(self, window):
        since = window - self.start
        return self.height if since >= 0 and since % self.period < self.length else 1


class NightlyBatch(Job):
    """Runs only at night, for about three hours. The amount of work differs between nights."""

    def __init__(self, copy):
        super().__init__(copy)
        self.memory_swing = self.cpu_swing = 0
        self.memory_limit, self.cpu_limit = 2.2, 2.2
        self.starts = (22 * 60 + 45 * copy) % 1440 * 60 // WINDOW
        rng = random.Random(f"nightly/{copy}")
        self.nights = [(rng.lognormvariate(0, 0.15), rng.randint(24, 48)) for _ in range(DAYS + 1)]

    def memory(self, window):
        night, since = divmod(window - self.starts, PER_DAY)
        size, length = self.nights[night + 1]  # the first night begins the day before the trace
        if since >= length:
            return None
        return size * (0.4 + 0.6 * min(1, since / (0.6 * length)))  # memory fills up, then stays constant

    def cpu(self, window):
        night, since = divmod(window - self.starts, PER_DAY)
        size, length = self.nights[night + 1]
        return size if since < length else None


class Leak(Job):
    """Memory grows by 10 % or more of the base per day. A restart every few days frees the growth."""

    def __init__(self, copy):
        super().__init__(copy)
        rng = random.Random(f"leak/{copy}")
        daily, self.level, lived, period = 0.1 + 0.03 * copy, [], 0, 0
        for _ in range(DAYS * PER_DAY):
            if lived == period:
                lived, period = 0, int(rng.uniform(4, 9) * PER_DAY)
            self.level.append(1 + daily * lived / PER_DAY)
            lived += 1
        self.memory_limit = 1.3 * (1 + 9 * daily)

    def memory(self, window):
        return self.level[window]

    def cpu(self, window):
        return 1


class Deploy(Job):
    """From 14:24 of one day on, usage is 2.5 times as high."""

    def __init__(self, copy):
        super().__init__(copy)
        self.at = (17 + 4 * copy) * DAY + 14 * 3600 + 24 * 60
        self.memory_limit, self.cpu_limit = 4, 5

    def memory(self, window):
        return 2.5 if (window + 1) * WINDOW > self.at else 1

    def cpu(self, window):  # mean CPU; in the window of the deploy, a mean of both levels
        return 1 + 1.5 * min(max((window + 1) * WINDOW - self.at, 0) / WINDOW, 1)


class OverOwner(Job):
    """Usage exceeds the owner's limit for an hour or two each day."""

    def __init__(self, copy):
        super().__init__(copy)
        self.height, self.start = 1.6 + 0.15 * copy, (9 * 60 + 40 * copy) * 60 // WINDOW
        self.length = 12 + 2 * copy
        self.cpu_swing = 0.1  # small, so that the season alone stays below the limit
        self.memory_limit = self.cpu_limit = 1.4

    def memory(self, window):
        return self.height if 0 <= window % PER_DAY - self.start < self.length else 1


class Bursts(Job):
    """Has bursts at random times, every third day on average. A burst lasts 10 minutes to an hour, with up to 4 times the usage."""

    def __init__(self, copy):
        super().__init__(copy)
        rng = random.Random(f"bursts/{copy}")
        self.level = [1] * (DAYS * PER_DAY)
        at = 0
        while (at := at + int(rng.expovariate(1 / (3 * PER_DAY)))) < len(self.level):
            height = min(4, 1.3 * rng.paretovariate(1.8))
            for window in range(at, min(at + rng.randint(2, 12), len(self.level))):
                self.level[window] = max(self.level[window], height)
        self.memory_limit, self.cpu_limit = 5, 7

    def memory(self, window):
        return self.level[window]


class DailySpike(Job):
    """Uses a tenth of a core, and 4 cores for 5 minutes at the same time of each day (copies 4 to 7: of each Monday)."""

    def __init__(self, copy):
        super().__init__(copy)
        self.cpu_base, self.cpu_swing, self.cpu_limit = 0.1, 0, 44
        self.period = PER_DAY * (1 if copy < 4 else 7)
        self.start = (5 * 60 + 131 * copy) * 60 // WINDOW

    def memory(self, window):
        return 1

    def cpu(self, window):
        return 40 if window % self.period == self.start else 1


class Steady(Job):
    """Always uses 1 GiB and half a core. The owners' limits are 1.5 to 16 times the usage."""

    def __init__(self, copy):
        super().__init__(copy)
        self.memory_base, self.cpu_base = GIB, 0.5
        self.memory_swing = self.cpu_swing = 0
        self.memory_noise, self.cpu_noise = 0.002, 0.02
        self.memory_limit = self.cpu_limit = (1.5, 2, 3, 4, 6, 8, 12, 16)[copy]


class Identical(Job):
    """Replicas that are separate jobs with exactly equal usage."""

    def __init__(self, _):
        super().__init__(3)


# name: (name in the table, resources, number of copies, function that returns the job of a copy)
SCENARIOS = {
    "growth-20": ("growth of 20 % a week", RESOURCES, 8, lambda i: Growth(i, 1.2, 0, DAYS)),
    "growth-x2": ("doubles each week for 3 weeks", RESOURCES, 8, lambda i: Growth(i, 2, 16 + 2 * i, 37 + 2 * i)),
    "weekly": ("weekly cron peak", RESOURCES, 8, lambda i: Periodic(i, 7, 2.5, 24, i % 7, 60 + 150 * i)),
    "monthly": ("monthly peak", RESOURCES, 8, lambda i: Periodic(i, 30, 2.5, 72, 2 + 3 * i, 30 + 120 * i)),
    "leak": ("leak with restarts", ("memory",), 8, Leak),
    "deploy": ("deploy x2.5 at 14:24", RESOURCES, 8, Deploy),
    "over-owner": ("needs more than its owner's limit, daily", RESOURCES, 8, OverOwner),
    "bursts": ("random bursts", RESOURCES, 8, Bursts),
    "spike": ("4 cores for 5 minutes, else a tenth", ("cpu",), 8, DailySpike),
    "nightly": ("nightly batch", RESOURCES, 8, NightlyBatch),
    "steady": ("steady 1 GiB, half a core", RESOURCES, 8, Steady),
    "identical": ("thirty identical jobs", RESOURCES, 30, Identical),
}


def usage(job, seed):
    """Yields the rows of a job: seconds, cores, bytes."""
    rng = random.Random(seed)
    gauss, rows = rng.gauss, []
    memory_drift = cpu_drift = 0
    for window in range(DAYS * PER_DAY):
        # Half of the noise is slow and lasts for hours; the other half is new in each window.
        memory_drift = 0.97 * memory_drift + 0.243 * gauss(0, 1)
        cpu_drift = 0.97 * cpu_drift + 0.243 * gauss(0, 1)
        memory_noise, cpu_noise = 0.7 * (memory_drift + gauss(0, 1)), 0.7 * (cpu_drift + gauss(0, 1))
        memory, cpu = job.memory(window), job.cpu(window)
        if memory is None or cpu is None:
            continue
        swing = SWING[window % PER_DAY]
        rows.append((window * WINDOW,
                     job.cpu_base * cpu * math.exp(job.cpu_swing * swing + job.cpu_noise * cpu_noise),
                     int(job.memory_base * memory * math.exp(job.memory_swing * swing + job.memory_noise * memory_noise))))
    return rows


def daily_peaks(rows):
    """Returns the sum over the scored days of the day's highest usage times the seconds with usage.

    This is the footprint of a limit that follows each day's known peak."""
    days = {}
    for time, cores, size in rows:
        if time >= WARMUP_DAYS * DAY:
            day = days.setdefault(time // DAY, [0, 0, 0])
            days[time // DAY] = [max(day[0], size), max(day[1], cores), day[2] + WINDOW]
    return {"memory": sum(day[0] * day[2] for day in days.values()), "cpu": sum(day[1] * day[2] for day in days.values())}


def write_trace(name, path):
    """Writes the trace of a scenario's jobs. Returns the jobs' names and the sum of their daily peaks."""
    _, _, copies, make = SCENARIOS[name]
    names, peaks, rows = set(), dict.fromkeys(RESOURCES, 0.0), None
    with open(path, "wb") as raw, gzip.GzipFile("", "wb", 1, raw, mtime=0) as out:
        out.write(b"time,job,task,cpu_cores,memory_bytes,cpu_limit,memory_limit\n")
        for copy in range(copies):
            job, label = make(copy), f"{name}/{copy}"
            if rows is None or name != "identical":
                rows = usage(job, label)
            limits = f"{job.cpu_base * job.cpu_limit:.3f},{round(job.memory_base * job.memory_limit)}"
            out.write("".join(f"{t},{label},0,{cores:.6g},{size},{limits}\n" for t, cores, size in rows).encode())
            names.add(label)
            for resource, peak in daily_peaks(rows).items():
                peaks[resource] += peak
    return names, peaks


def replay(args, paths, out, *options):
    """Returns by_job of each lane, keyed by (resource, recommender)."""
    command = [args.taut, "replay", *map(str, paths), "--warmup", f"{WARMUP_DAYS}d", "--recommender", args.recommenders,
               "--quiet", "--json", str(out), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return {(lane["resource"], lane["recommender"]): lane["by_job"] for lane in json.loads(out.read_text())["lanes"]}


SUMS = ("job_days", "oom_days", "ooms", "windows", "windows_over", "changes", "limit_seconds", "owner_limit_seconds",
        "usage_seconds", "usage_over_seconds")


def totals(by_job, names):
    """Returns sums over the scenario's jobs; None for figures that this taut does not report per job."""
    jobs = [job for job in by_job if job["job"] in names]
    return {key: sum(job[key] for job in jobs) if all(key in job for job in jobs) else None for key in SUMS}


def share(part, whole):
    return None if part is None or not whole else part / whole


def measures(sums, peak_seconds, enforced):
    return {
        "over_day_share": share(sums["oom_days"], sums["job_days"]),
        "windows_over_share": share(sums["windows_over"], sums["windows"]),
        "windows_over_per_over_day": share(sums["windows_over"], sums["oom_days"]),
        "usage_over_share": share(sums["usage_over_seconds"], sums["usage_seconds"]),
        "footprint_of_daily_peak": share(sums["limit_seconds"], peak_seconds),
        "footprint_of_owner": share(sums["limit_seconds"], sums["owner_limit_seconds"]),
        "changes_per_job_day": share(sums["changes"], sums["job_days"]),
        "kills_per_job_week": share(7 * enforced["ooms"], enforced["job_days"]),
        "cut_usage_over_share": share(enforced["usage_over_seconds"], enforced["usage_seconds"]),
        "cut_footprint_of_daily_peak": share(enforced["limit_seconds"], peak_seconds),
    }


def run(args, name, fleet, out):
    """Returns a result for each resource and recommender. taut may write to `out`."""
    path = fleet.parent / f"{name}.csv.gz"
    names, peaks = write_trace(name, path)
    lanes = replay(args, [fleet, path], out)
    restarts = replay(args, [fleet, path], out, "--feedback", "oom-restart")
    results = []
    for (resource, recommender), by_job in lanes.items():
        if resource in SCENARIOS[name][1]:
            sums = totals(by_job, names)
            enforced = totals(restarts[resource, recommender], names)
            results.append({"scenario": name, "resource": resource, "recommender": recommender,
                            **measures(sums, peaks[resource], enforced), "sums": sums, "sums_oom_restart": enforced,
                            "daily_peak_seconds": peaks[resource]})
    return results


def text(value, decimals):
    return "-" if value is None else f"{value:.{decimals}f}"


def in_percent(value, decimals):
    return text(None if value is None else 100 * value, decimals)


def percent(value, decimals):
    return "-" if value is None else f"{in_percent(value, decimals)} %"


def markdown(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def long_table(results, resource):
    """Returns a row for each scenario and recommender."""
    cpu = resource == "cpu"
    day = "over-day" if cpu else "OOM-day"
    head = ("scenario", "recommender", f"{day}s", "windows over", f"windows/{day}", "of peak", "of owner's", "changes/day",
            *(("throttled", "cut") if cpu else ("kills/week",)))
    rows, before = [], None
    for r in results:
        rows.append((SCENARIOS[r["scenario"]][0] if r["scenario"] != before else "", r["recommender"],
                     percent(r["over_day_share"], 1), percent(r["windows_over_share"], 3),
                     text(r["windows_over_per_over_day"], 1),
                     text(r["footprint_of_daily_peak"], 2), text(r["footprint_of_owner"], 2),
                     text(r["changes_per_job_day"], 2),
                     *((percent(r["usage_over_share"], 2), cut_at_footprint(r)) if cpu
                       else (text(r["kills_per_job_week"], 2),))))
        before = r["scenario"]
    return markdown(head, rows)


ZEROS = {"0.000", "0.00", "-"}


def brief_table(results, cell):
    """Returns a row for each scenario with a cell for each recommender. Omits rows that contain only zeros."""
    rows = {}
    for r in results:
        rows.setdefault(r["scenario"], {})[r["recommender"]] = cell(r)
    recommenders = next(iter(rows.values()))
    return markdown(("scenario", *recommenders), [(SCENARIOS[name][0], *row.values()) for name, row in rows.items()
                                                  if not ZEROS.issuperset(row.values())])


def harm_at_footprint(result):
    harm = (in_percent(result["usage_over_share"], 2) if result["resource"] == "cpu"
            else in_percent(result["over_day_share"], 1))
    return f"{harm} @ {text(result['footprint_of_daily_peak'], 2)}"


def cut_at_footprint(result):
    return f"{in_percent(result['cut_usage_over_share'], 2)} @ {text(result['cut_footprint_of_daily_peak'], 2)}"


def tables(results, brief):
    """Returns (title, table) of all tables to print."""
    for resource, title in (("memory", "Memory"), ("cpu", "CPU")):
        if part := [r for r in results if r["resource"] == resource]:
            harm = "throttled work" if resource == "cpu" else "OOM-days"
            yield (f"{title}: {harm} in % @ footprint against the daily peak" if brief else title,
                   brief_table(part, harm_at_footprint) if brief else long_table(part, resource))
            if brief:
                yield (f"{title}: windows over the limit, in %",
                       brief_table(part, lambda r: in_percent(r["windows_over_share"], 3)))
            if brief and resource == "cpu":
                yield "CPU, usage cut at the limit: throttled work in % @ footprint", brief_table(part, cut_at_footprint)
            if brief and resource == "memory":
                yield "Memory: OOM kills of a job in a week", brief_table(part, lambda r: text(r["kills_per_job_week"], 2))


def recommenders_of(taut):
    """Returns the names in the output of `taut list`, one per line."""
    listed = subprocess.run([taut, "list", "recommenders"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line.strip()]


def chosen(what, asked, known):
    names = asked.split(",") if asked else list(known)
    for name in names:
        if name not in known:
            sys.exit(f"scenarios: no {what} '{name}'; there are: {', '.join(known)}")
    return names


def main():
    listed = "\n".join(f"  {name:<12}{title}" for name, (title, *_) in SCENARIOS.items())
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=f"scenarios:\n{listed}")
    parser.add_argument("--taut", default="build/release/bin/taut", metavar="PATH")
    parser.add_argument("--recommenders", metavar="A,B", help="all that taut lists, unless told otherwise")
    parser.add_argument("--scenarios", metavar="A,B", help="all of those below, unless told otherwise")
    parser.add_argument("--brief", action="store_true",
                        help="a row a scenario: harm, footprint against the daily peak, windows over, kills")
    parser.add_argument("--json", metavar="FILE", help="write all figures and the sums behind them")
    parser.add_argument("--keep", metavar="DIR", type=pathlib.Path, help="leave the traces here")
    args = parser.parse_args()
    scenarios = chosen("scenario", args.scenarios, SCENARIOS)
    args.recommenders = ",".join(chosen("recommender", args.recommenders, recommenders_of(args.taut)))

    results = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        fleet = folder / "fleet.csv.gz"
        subprocess.run([args.taut, "trace", "generate", fleet, "--jobs", str(FLEET_JOBS), "--days", str(DAYS),
                        "--seed", str(FLEET_SEED), "--quiet"], check=True)
        for name in scenarios:
            print(f"scenarios: {name}", file=sys.stderr, flush=True)
            results += run(args, name, fleet, pathlib.Path(temporary) / "result.json")
    for title, table in tables(results, args.brief):
        print(f"{title}\n\n{table}\n")
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps({"format": "taut-scenarios/1", "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error.stderr or ''}scenarios: {error.cmd[1]} failed with exit code {error.returncode}")
    except OSError as error:
        sys.exit(f"scenarios: {error}")
