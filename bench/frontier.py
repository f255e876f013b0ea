#!/usr/bin/env python3
"""Prints the frontier of footprint against harm for every recommender on every trace that has weeks of usage beside owners'
limits. The footprint is the sum of limits as a share of the owners' limits. Harm is the share of OOM-days (memory) or of
throttled work (CPU).

    bench/frontier.py ../shared/traces                            # all tables, two hours of one core
    bench/frontier.py ../shared/traces --write docs/results.md    # also writes the tables of that document
    bench/frontier.py ../shared/traces --cache /tmp/f --recommenders analogs,work_function --data bitbrains_rnd   # a part

Each figure stands beside the bounds of its 95 % interval from 300 draws of as many jobs, with replacement. `largest` is the
share of the 25 jobs with the largest owners' limits in the footprint and in the harm. `dominated by` names the cheapest row
with no larger footprint, harm and OOMs per task-day, one of them smaller; a job's own order is compared with no other row.
With --cache a replay whose result is in the folder is not repeated: remove the files of a recommender that has changed.
"""
import argparse
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import tempfile

DAYS = [0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.13]  # ordered shares of OOM-days, and of throttled days
WORK = [0.0005, 0.0007, 0.001, 0.002, 0.003, 0.005, 0.01]  # ordered shares of throttled work
JOB_DAYS, JOB_WORK = [0.003, 0.01, 0.03, 0.13], [0.0005, 0.001, 0.003, 0.005]  # the same, for each job alone
PEAKS = [(days, margin) for days in (4, 7, 14, 28) for margin in (0.15, 0.5, 1.0)]
PRICES = [300, 3000, 30000, 300000]
FEEDBACK = {"none": "as recorded", "oom-restart": "enforced"}
LARGEST, DRAWS, TOLERANCE = 25, 300, 0.2
MARKS = ("<!-- frontier: written by bench/frontier.py --write -->\n", "<!-- end of frontier -->\n")


def replay(args, paths, recommenders, settings, feedback="none", mode="recommend"):
    """Returns {(recommender, resource): lane}."""
    command = ["replay", *paths, "--warmup", args.warmup, "--recommender", ",".join(recommenders), "--feedback", feedback,
               "--mode", mode, "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    with tempfile.TemporaryDirectory() as scratch:
        name = "-".join(recommenders)[:60] + hashlib.sha256(repr(command).encode()).hexdigest()[:12] + ".json"
        file = pathlib.Path(args.cache or scratch, name)
        if not file.exists():
            subprocess.run([args.taut, *command, "--json", f"{file}.part"], check=True, stdout=subprocess.DEVNULL)
            pathlib.Path(f"{file}.part").rename(file)
        lanes = json.loads(file.read_text())["lanes"]
    return {(lane["recommender"], lane["resource"]): lane for lane in lanes}


def runs():
    """Returns replays as (settings, mode, {recommender: (name, {resource: ordered share})})."""
    out = []
    for i, (days, margin) in enumerate(PEAKS):
        settings = {"peak.window": f"{days}d", "peak.margin": margin}
        rows = {"peak": (f"peak, {days} days + {100 * margin:g} %", {})}
        if i < len(PRICES):
            settings |= {"ensemble.w_over": PRICES[i], "ensemble.cpu_w_over": PRICES[i]}
            rows["ensemble"] = f"ensemble, price {PRICES[i]}", {}
        if i < 2:
            settings["moving_window.oom_tolerance"] = tolerance = ("minimal", "low")[i]
            rows["moving_window"] = f"moving_window, {tolerance}", {}
        if i == 0:
            rows |= {name: (name, {}) for name in ("recorded", "vpa", "krr", "crane")}
        out.append((settings, "recommend", rows))
    for days, work in zip(DAYS, WORK):
        both = {"memory": days, "cpu": work}
        out += [({"analogs.memory_oom_days": days, "analogs.cpu_oom_days": days, "work_function.cpu_throttled": work}, "recommend",
                 {name: (name, of)}) for name, of in (("analogs", {"memory": days}), ("work_function", {"cpu": work}), ("boosted", both))]
    out += [({"analogs.job_order": days, "work_function.job_order": work}, "recommend",
             {"combined": ("each job's order", {"memory": days, "cpu": work})}) for days, work in zip(JOB_DAYS, JOB_WORK)]
    return out + [({}, mode, {"combined": (f"combined, mode {mode}", {"memory": 0.03, "cpu": 0.001})}) for mode in ("auto", "canary")]


class Row:
    def __init__(self, name, lane, order):
        cpu = lane["resource"] == "cpu"
        jobs = sorted(lane["by_job"], key=lambda job: -job["owner_limit_seconds"])
        self.name, self.lane, self.order = name, lane, order
        self.sums = [(job["limit_seconds"], job["owner_limit_seconds"], job["usage_over_seconds" if cpu else "oom_days"],
                      job["usage_seconds" if cpu else "job_days"]) for job in jobs]
        self.kills = 0 if cpu else lane["ooms_per_task_day"]
        self.size, self.harm = self.ratios(self.sums)
        rng = random.Random(1)  # the same jobs are drawn for every row
        draws = [self.ratios(rng.choices(self.sums, k=len(jobs))) for _ in range(DRAWS)]
        self.bounds = [sorted(values)[int(p * DRAWS)] for values in zip(*draws) for p in (0.025, 0.975)]
        self.largest = [sum(job[i] for job in self.sums[:LARGEST]) / max(1e-9, sum(job[i] for job in self.sums)) for i in (0, 2)]
        self.better = ""

    @staticmethod
    def ratios(sums):
        limit, owner, harm, of = (sum(column) for column in zip(*sums))
        return limit / owner, harm / of

    def missed(self):
        return self.order is not None and abs(self.harm / self.order - 1) > TOLERANCE

    def dominates(self, other):
        pairs = list(zip((self.size, self.harm, self.kills), (other.size, other.harm, other.kills)))
        return all(mine <= its for mine, its in pairs) and any(mine < its for mine, its in pairs)

    def cells(self):
        low, high, least, most = self.bounds
        places = 2 if self.lane["resource"] == "memory" else 3
        star = "*" if self.missed() else ""
        return [f"{self.size:.3f} ({low:.3f}-{high:.3f})", f"{100 * self.harm:.{places}f} ({100 * least:.{places}f}-{100 * most:.{places}f}){star}",
                f"{self.lane['ooms_per_task_day']:.3f}", f"{self.lane['changes_per_job_day']:.2f}",
                f"{100 * self.largest[0]:.0f} / {100 * self.largest[1]:.0f}", self.better]


def rows_of(args, paths, feedback):
    """Returns {resource: rows}."""
    rows = {"memory": [], "cpu": []}
    for settings, mode, lanes in runs():
        wanted = [name for name in lanes if not args.recommenders or name in args.recommenders]
        if not wanted:
            continue
        for (name, resource), lane in replay(args, paths, wanted, settings, feedback, mode).items():
            what, order = lanes[name]
            if name in ("analogs", "work_function") and resource not in order:
                continue  # its other resource has another target
            share = order.get(resource)
            label = what if share is None or mode != "recommend" else f"{what}, {100 * share:g} %"
            rows[resource].append(Row(label, lane, share))
    for group in rows.values():
        free = [row for row in group if not row.name.startswith("each job")]
        for row in free:
            better = [other for other in free if other.dominates(row)]
            row.better = min(better, key=lambda other: other.size).name if better else ""
    return rows


def table(title, resource, rows):
    harm = "OOM-days, %" if resource == "memory" else "work throttled, %"
    head = f"| {title} | footprint | {harm} | overruns / task-day | changes / day | largest, % | dominated by |"
    lines = [" | ".join([f"| {row.name}", *row.cells()]).rstrip() + " |" for row in rows]
    return "\n".join([head, "|---" * head.count(" | ") + "|---|", *lines]) + "\n"


def missed(title, resource, rows):
    return [f"| {title} | {resource} | {row.name} | {100 * row.harm:.3g} % |" for row in rows if row.missed()]


def traces(args, scratch):
    """Returns (name, title, paths, warm-up) for each trace, and says which are left out."""
    root = pathlib.Path(args.traces)
    cell = f"{scratch}/cell.csv.gz" if not args.cache else f"{args.cache}/cell.csv.gz"
    if not pathlib.Path(cell).exists():
        subprocess.run([args.taut, "trace", "generate", cell, "--jobs", "200", "--days", "42", "-q"], check=True)
    known = {"bitbrains_rnd": ("Bitbrains rnd, 250 VMs", sorted(map(str, root.glob("bitbrains_rnd/*.csv.gz"))), "14d"),
             "google2019_tasks": ("Google 2019, 4 jobs", [str(root / "google2019_tasks/tasks.csv.gz")], "7d")}
    for folder in sorted(path.name for path in root.iterdir() if path.is_dir() and path.name not in known):
        print(f"left out: {folder}: no usage of tasks over weeks beside their owners' limits")
    known["generated"] = "generated cell, 200 jobs", [cell], "14d"
    return [(name, *what) for name, what in known.items() if args.data in (None, name)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", help="the folder of the traces")
    parser.add_argument("--recommenders", type=lambda text: text.split(","), help="only these")
    parser.add_argument("--data", help="only this trace: bitbrains_rnd, google2019_tasks or generated")
    parser.add_argument("--write", metavar="FILE", help="a document with the marks of the tables")
    parser.add_argument("--cache", help="folder of finished replays")
    parser.add_argument("--taut", default="build/release/bin/taut")
    args = parser.parse_args()
    text, misses = "\n## All recommenders and targets\n", []
    with tempfile.TemporaryDirectory() as scratch:
        for name, title, paths, args.warmup in traces(args, scratch):
            for feedback, how in FEEDBACK.items():
                for resource, rows in rows_of(args, paths, feedback).items():
                    of_this = f"**{title}, {resource.upper() if resource == 'cpu' else resource}, {how}**"
                    print("\n" + table(of_this, resource, rows), flush=True)
                    if name == "google2019_tasks":
                        continue  # a fixture of 4 jobs, no result
                    text += "\n" + table(of_this, resource, [row for row in rows if row.order is not None or not row.better])
                    misses += missed(f"{title}, {how}", resource, rows)
    text += "\n".join(["\n| orders missed by more than a fifth | | | delivered |", "|---|---|---|---|", *misses]) + "\n"
    print(text[text.index("| orders missed"):])
    if args.write:
        page = pathlib.Path(args.write)
        before, _, rest = page.read_text().partition(MARKS[0])
        page.write_text(before + MARKS[0] + text + "\n" + MARKS[1] + rest.partition(MARKS[1])[2])


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"frontier: {error.cmd[1]} failed with exit code {error.returncode}")
