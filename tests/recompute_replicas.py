"""Recomputes every figure of `taut replay --replicas --json` from the rows of --decisions, by the definitions alone.

Usage: recompute_replicas.py DECISIONS RESULT WARMUP_S UTILIZATION shed|queue (default bounds of the count)
"""
import csv
import json
import math
import sys

DAY = 86400


def sign(x):
    return (x > 0) - (x < 0)


def figures(rows, warmup, utilization, model):
    step = rows[1]["time"] - rows[0]["time"]
    out = dict.fromkeys(("steps", "absent", "tasks", "ideal", "over_load", "load", "lost", "delay", "max_delay", "starts",
                         "changes", "under", "over", "under_n", "over_n", "unstable", "held"), 0)
    days, changed_days = set(), set()
    backlog = need = supply = 0
    held = False
    for r in rows:
        measured = r["time"] - rows[0]["time"] >= warmup
        running = r["ready"] + r["starting"]
        if r["load"] is not None:
            offered = r["load"] + backlog
            power = r["ready"] * r["capacity"]
            left = max(0.0, offered - power)
            backlog = left if model == "queue" else 0
            needs = max(1, math.ceil(r["load"] / (utilization * r["capacity"]) - 1e-9))
            if measured:
                out["load"] += r["load"]
                out["over_load"] += offered > utilization * power * (1 + 1e-12)
                if model == "shed":
                    out["lost"] += left
                elif left > 0:
                    delay = left / max(power, r["capacity"]) * step
                    out["delay"] += delay
                    out["max_delay"] = max(out["max_delay"], delay)
                out["under"] += max(needs - r["ready"], 0) / needs
                out["over"] += max(r["ready"] - needs, 0) / needs
                out["under_n"] += needs > r["ready"]
                out["over_n"] += r["ready"] > needs
                out["unstable"] += sign(r["ready"] - supply) != sign(needs - need)
            need, supply = needs, r["ready"]
        if r["due"]:  # of the policies here, only the clairvoyant decides without a load
            held = r["load"] is None and r["policy"] != "clairvoyant"
        if measured:
            out["held"] += held * step
            days.add(r["time"] // DAY)
            out["steps"] += 1
            out["absent"] += r["load"] is None
            out["tasks"] += running * step
            out["ideal"] += need * step
            out["starts"] += max(r["decided"] - running, 0)
            if r["decided"] != running:
                out["changes"] += 1
                changed_days.add(r["time"] // DAY)
    n = out["steps"] - out["absent"]
    return {
        "minutes_measured": out["steps"] * step / 60,
        "steps_without_load": out["absent"],
        "task_hours": out["tasks"] / 3600,
        "task_hours_of_clairvoyant": out["tasks"] / out["ideal"],
        "overloaded_share": out["over_load"] / n,
        "load_lost_share": out["lost"] / out["load"],
        "mean_delay_seconds": out["delay"] / n,
        "max_delay_seconds": out["max_delay"],
        "minutes_held": out["held"] / 60,
        "starts": out["starts"],
        "changes": out["changes"],
        "changes_per_day": out["changes"] * DAY / (out["steps"] * step),
        "days": len(days),
        "days_without_change": len(days - changed_days),
        "underprovisioning_accuracy": out["under"] / n,
        "overprovisioning_accuracy": out["over"] / n,
        "underprovisioning_timeshare": out["under_n"] / n,
        "overprovisioning_timeshare": out["over_n"] / n,
        "instability": out["unstable"] / n,
    }


def main():
    path, result, warmup, utilization, model = sys.argv[1:]
    series = {}
    with open(path, newline="", encoding="utf-8") as f:
        for r in csv.DictReader(f):
            series.setdefault((r["job"], r["policy"]), []).append({
                "time": int(r["time_s"]), "load": float(r["load"]) if r["load"] else None,
                "capacity": float(r["capacity"]), "ready": int(r["ready"]), "starting": int(r["starting"]),
                "decided": int(r["decided"]), "due": r["reason"] != "", "policy": r["policy"]})
    with open(result, encoding="utf-8") as f:
        policies = json.load(f)["policies"]
    compared = wrong = 0
    for p in policies:
        for job in p["by_job"]:
            mine = figures(series.pop((job["job"], p["policy"])), int(warmup), float(utilization), model)
            for name in job.keys() - {"job", "task_capacity"}:
                compared += 1
                if not math.isclose(job[name], mine[name], rel_tol=1e-9, abs_tol=1e-12):
                    wrong += 1
                    print(f'{job["job"]} {p["policy"]} {name}: {job[name]}, recomputed {mine[name]}')
    if series:
        print("rows of jobs that the result does not have:", *series)
    print(f"{wrong} of {compared} figures differ" if wrong else f"{compared} figures: all as recomputed")


main()
