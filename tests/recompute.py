#!/usr/bin/env python3
"""Recomputes a replay's figures independently: from the trace and the limits that it reports as decided.

    recompute.py TRACE.csv[.gz] DECISIONS.csv[.gz] RESULT.json [--feedback none]

Uses only the formats (docs/reference/traces.md) and the definitions of the measures, and shares no code with the replay. The trace
must have at most one row per task and window. If it has oom_kills, a task-window with a kill was over every limit up to
its own. Figures are compared with the JSON to one part in a million, counts
exactly: for the whole and for every job.
"""
import array
import collections
import csv
import gzip
import json
import math
import sys

WINDOW_S, DAY_S = 300, 86400
TOLERANCE = 1e-6
RESOURCES = {"cpu": ("cpu_cores", "cpu_limit", "cores"), "memory": ("memory_bytes", "memory_limit", "bytes")}


def open_text(path):
    return gzip.open(path, "rt", newline="") if path.endswith(".gz") else open(path, newline="")


def as_float32(text):
    """Rounds to single precision, as traces are stored; None for an empty field."""
    return array.array("f", [float(text)])[0] if text else None


class Window:
    __slots__ = ("usages", "own", "killed", "owner")  # own: each task's limit or None; killed: True if the task was killed

    def __init__(self):
        self.usages, self.own, self.killed, self.owner = [], [], [], None

    def over(self, limit):
        """Returns the usages over the limit, including those that a kill has cut off at it."""
        return [u for u, own, killed in zip(self.usages, self.own, self.killed)
                if u > limit or killed and limit <= (self.owner if own is None else own) * (1 + 1e-6)]

    def owner_sum(self):
        return math.fsum(self.owner if limit is None else limit for limit in self.own)


def read_trace(path):
    """Returns {resource: {job: {window: Window}}}."""
    trace = {r: collections.defaultdict(lambda: collections.defaultdict(Window)) for r in RESOURCES}
    seen = set()
    with open_text(path) as rows:
        for row in csv.DictReader(rows):
            window = int(row["time"]) // WINDOW_S
            key = row["job"], row["task"], window
            if key in seen:
                sys.exit(f"{key}: more than one row in a window")
            seen.add(key)
            for resource, (usage_name, limit_name, _) in RESOURCES.items():
                usage, limit = as_float32(row[usage_name]), as_float32(row[limit_name])
                if usage is None:
                    continue
                w = trace[resource][row["job"]][window]
                w.usages.append(usage)
                w.own.append(limit)
                w.killed.append(resource == "memory" and int(row.get("oom_kills") or 0) > 0)
                if limit is not None:
                    w.owner = limit if w.owner is None else max(w.owner, limit)
    return trace


def read_decisions(path):
    """Returns {(recommender, resource): {job: [(window, limit or None)]}}, by time."""
    decisions = collections.defaultdict(lambda: collections.defaultdict(list))
    with open_text(path) as rows:
        for row in csv.DictReader(rows):
            limit = float(row["limit"]) if row["limit"] else None
            window, rest = divmod(int(row["ts_s"]), WINDOW_S)
            if rest:
                sys.exit(f"a decision inside a window: {row}")
            decisions[row["recommender"], row["resource"]][row["job"]].append((window, limit))
    return decisions


class Sums(collections.Counter):
    """Additive figures of job-days; the names are those of the JSON."""

    def __init__(self):
        super().__init__()
        self.changes_by_day, self.slacks = [], []


def score_day(windows, limits, changes, sums):
    """Scores one job and day. windows, limits: in order; changes: number of changed limits on this day."""
    limited = [(w, limit) for w, limit in zip(windows, limits) if limit is not None]
    sums["unlimited_windows"] += len(windows) - len(limited)
    if not limited:
        return
    usages = sorted(u for w in windows for u in w.usages)
    p95 = usages[(len(usages) * 95 + 99) // 100 - 1]
    task_windows = sum(len(w.usages) for w, _ in limited)
    mean_limit = math.fsum(limit * len(w.usages) for w, limit in limited) / task_windows
    ooms = 0
    for w, limit in limited:
        over = w.over(limit)
        ooms += len(over)
        sums["windows_over"] += 1 if over else 0
        sums["usage_over"] += math.fsum(max(0, u - limit) for u in over) * WINDOW_S
        sums["limit_seconds"] += limit * len(w.usages) * WINDOW_S
        sums["usage_seconds"] += math.fsum(w.usages) * WINDOW_S
        if w.owner is not None:
            sums["owner_limit_seconds"] += w.owner_sum() * WINDOW_S
            sums["limit_seconds_owned"] += limit * len(w.usages) * WINDOW_S
    mean_tasks = task_windows / len(limited)
    sums["job_days"] += 1
    sums["windows"] += len(limited)
    sums["slack"] += (mean_limit - p95) / mean_limit
    sums["negative_slack_days"] += 1 if p95 > mean_limit else 0
    sums["ooms"] += ooms
    sums["oom_days"] += 1 if ooms else 0
    sums["serious_oom_days"] += 1 if ooms > max(4, mean_tasks / 5) else 0
    sums["ooms_per_task_day"] += ooms / mean_tasks
    sums["changes"] += changes
    sums.changes_by_day.append(changes)


def score_job(windows, decided, first_scored_day):
    """Steps through the job's windows with the decided limits in force; returns sums over scored days."""
    sums = Sums()
    at, limit = -1, None
    days = collections.defaultdict(lambda: ([], [], [0]))
    for index in sorted(windows):
        changed = False
        while at + 1 < len(decided) and decided[at + 1][0] <= index:
            at += 1
            if at > 0 and decided[at][0] != index:
                sys.exit(f"a limit changes at window {decided[at][0]}, where the job has none")
            changed = at > 0
            limit = decided[at][1]
        day_windows, day_limits, day_changes = days[index * WINDOW_S // DAY_S]
        day_windows.append(windows[index])
        day_limits.append(limit)
        day_changes[0] += changed
    for day, (day_windows, day_limits, day_changes) in days.items():
        if day >= first_scored_day:
            score_day(day_windows, day_limits, day_changes[0], sums)
    return sums


def quantile_of_changes(changes, p):
    ordered = sorted(changes)
    return ordered[max(0, math.ceil(p * len(ordered)) - 1)] if ordered else 0


class Checker:
    def __init__(self):
        self.checked, self.wrong = 0, []

    def same(self, where, name, said, computed):
        self.checked += 1
        exact = isinstance(said, int) and isinstance(computed, int)
        if said != computed if exact else abs(said - computed) > TOLERANCE * max(abs(said), abs(computed), 1e-12):
            self.wrong.append(f"{where}: {name} is said to be {said}, recomputed {computed}")


def check_lane(check, lane, trace, decisions, result):
    resource, unit = lane["resource"], RESOURCES[lane["resource"]][2]
    first_day = result["first_scored_day_start_s"] // DAY_S
    where = f"{lane['recommender']} {resource}"
    decided = decisions[lane["recommender"], resource]
    total, by_job = Sums(), {}
    for job, windows in trace[resource].items():
        by_job[job] = score_job(windows, decided[job], first_day)
        total.update(by_job[job])
        total.changes_by_day += by_job[job].changes_by_day
    days = total["job_days"]
    scored_s = (result["last_day_start_s"] - result["first_scored_day_start_s"]) + DAY_S
    for name in ("job_days", "windows", "unlimited_windows", "ooms", "oom_days", "serious_oom_days",
                 "negative_slack_days"):
        check.same(where, name, lane[name], total[name])
    for name, value in {
        "slack_mean": total["slack"] / days,
        f"footprint_mean_{unit}": total["limit_seconds"] / scored_s,
        "footprint_of_owner": total["limit_seconds_owned"] / total["owner_limit_seconds"],
        "footprint_of_usage": total["limit_seconds"] / total["usage_seconds"],
        f"limit_{unit}_seconds": total["limit_seconds"],
        f"owner_limit_{unit}_seconds": total["owner_limit_seconds"],
        f"slack_absolute_{unit}": (total["limit_seconds"] - total["usage_seconds"]) / scored_s,
        f"usage_{unit}_seconds": total["usage_seconds"],
        "oom_day_share": total["oom_days"] / days,
        "ooms_per_task_day": total["ooms_per_task_day"] / days,
        "changes_per_job_day": total["changes"] / days,
        "changes_p99": quantile_of_changes(total.changes_by_day, 0.99),
        "share_of_days_without_change": total.changes_by_day.count(0) / days,
        "windows_over_share": total["windows_over"] / total["windows"],
        "usage_over_share": total["usage_over"] / total["usage_seconds"],
    }.items():
        check.same(where, name, lane[name], value)
    days_of = sorted((sums["oom_days"] for sums in by_job.values() if sums["oom_days"]), reverse=True)
    for name, value in {
        "jobs_with_oom_days": len(days_of),
        "jobs_with_one_oom_day": days_of.count(1),
        "oom_days_of_four_fifths": days_of[len(days_of) // 5] if days_of else 0,
        "worst_job_oom_days": days_of[0] if days_of else 0,
    }.items():
        check.same(where, name, lane[name], value)
    scored = [sums for sums in by_job.values() if sums["job_days"]]
    reliable = sorted(1 - sums["windows_over"] / sums["windows"] for sums in scored)
    for name, value in {
        "resource_efficiency": sum(sums["usage_seconds"] / sums["limit_seconds"] for sums in scored) / len(scored),
        "reliability": sum(reliable) / len(scored),
        "reliability_p05": reliable[math.ceil(0.05 * len(scored)) - 1],
    }.items():
        check.same(where, name, lane[name], value)
    for job in lane["by_job"]:
        sums = by_job.pop(job["job"])
        for name in ("job_days", "limit_seconds", "owner_limit_seconds", "usage_seconds", "oom_days", "ooms", "changes"):
            check.same(f"{where} {job['job']}", name, job[name], sums[name])
        check.same(f"{where} {job['job']}", "slack_mean", job["slack_mean"], sums["slack"] / sums["job_days"])
    for job, sums in by_job.items():
        if sums["job_days"]:
            check.wrong.append(f"{where}: {job} has {sums['job_days']} job-days and is not in by_job")


def main():
    trace, decisions = read_trace(sys.argv[1]), read_decisions(sys.argv[2])
    with open(sys.argv[3]) as file:
        result = json.load(file)
    check = Checker()
    for lane in result["lanes"]:
        check_lane(check, lane, trace, decisions, result)
    for line in check.wrong[:40]:
        print(line)
    print(f"{len(result['lanes'])} lanes: {'all' if not check.wrong else len(check.wrong)} "
          f"{'figures as recomputed' if not check.wrong else f'of {check.checked} figures differ'}")
    sys.exit(1 if check.wrong else 0)


if __name__ == "__main__":
    main()
