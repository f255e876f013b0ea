#!/usr/bin/env python3
"""Chooses those constants of a recommender that are settings on one part of a trace's VMs, and scores the choice on the
other parts.

    bench/cross_validation.py ../shared/traces/bitbrains_rnd/*.csv.gz                      # 20 minutes
    bench/cross_validation.py --recommenders work_function ../shared/traces/bitbrains_rnd/*.csv.gz

The VMs are split into --parts parts by alternate blocks of --block VMs, because neighbours run the same application. The
cost of a value is its footprint, as a share of the owners' limits, at the harm of --harm (memory: 3 % OOM-days, CPU: .1 %
throttled work). Two orders, or two prices, are replayed. The footprint is interpolated between the two, linearly over the
logarithm of the harm. A value is rejected if its hidden figures (OOMs per task-day, changes) exceed those of the default
on the same VMs by more than a tenth. Then all constants chosen on one part are replayed together on the other parts.
Their cost there, compared with the defaults, shows the value of the choice on VMs that the choice did not use.
"""
import argparse
import contextlib
import gzip
import math
import pathlib
import subprocess
import sys
import tempfile

import frontier

# For each recommender: the resource, the compared harm, a setting with two values whose harms lie on both sides of this harm (the dial), and
# the constants with their values. The first value is the default.
STUDIES = {
    "analogs": {
        "resource": "memory", "harm": "oom_day_share", "at": 0.03, "dial": ("analogs.memory_oom_days", (0.02, 0.045)),
        "hidden": ("ooms_per_task_day", "changes_per_job_day"),
        "values": {
            "analogs.own_half_life": ("10d", "5d", "7d", "14d", "20d"),
            "analogs.fleet_weight": (20, 5, 10, 40),
            "analogs.keep": (0.13, 0.05, 0.09, 0.18, 0.25),
            "analogs.retrain_every": ("2d", "1d", "4d"),
            "analogs.raise_at": (0.8, 0.7, 0.9),
            "analogs.raise_factor": (1.6, 1.3, 1.9),
            "analogs.raise_for": ("6h", "3h", "12h"),
            "analogs.raise_change_price": (0.05, 0.02, 0.1),
        }},
    "work_function": {
        "resource": "cpu", "harm": "usage_over_share", "at": 0.001, "dial": ("work_function.cpu_throttled", (0.0007, 0.0015)),
        "hidden": ("changes_per_job_day",),
        "values": {
            "work_function.job_cap": (5, 2, 10, 0),
            "work_function.change_scale": (1, 0.5, 0.7, 1.4, 2),
        }},
    "ensemble": {
        "resource": "memory", "harm": "oom_day_share", "at": 0.03, "dial": ("ensemble.w_over", (10000, 100000)),
        "hidden": ("ooms_per_task_day", "changes_per_job_day"),
        "values": {
            "ensemble.young_margin": (0.4, 0.2, 0.8),
            "ensemble.w_limit_change": (2, 1, 4),
            "ensemble.w_model_change": (0.01, 0.1),
            "ensemble.score_half_life": ("168h", "84h", "336h"),
        }},
}
HIDDEN_MORE = 1.1


@contextlib.contextmanager
def parts_of(paths, parts, block):
    """Splits the VMs of the compact Bitbrains files into `parts` files by VM number: consecutive ranges, or alternate blocks."""
    with tempfile.TemporaryDirectory() as folder:
        out = [gzip.open(pathlib.Path(folder) / f"part{i + 1}.csv.gz", "wt", compresslevel=1) for i in range(parts)]
        numbers = set()
        for path in paths:
            with gzip.open(path, "rt") as lines:
                next(lines)
                numbers.update(int(line.split(",", 1)[0]) for line in lines)
        part = {vm: i // block % parts if block else i * parts // len(numbers) for i, vm in enumerate(sorted(numbers))}
        for i, path in enumerate(paths):
            with gzip.open(path, "rt") as lines:
                head = next(lines)
                if i == 0:
                    for file in out:
                        file.write(head)
                for line in lines:
                    out[part[int(line.split(",", 1)[0])]].write(line)
        for file in out:
            file.close()
        yield [file.name for file in out]


class Study:
    """Computes the costs of one recommender's settings on each part. Each combination is replayed only once."""

    def __init__(self, args, recommender, files):
        self.args, self.recommender, self.files = args, recommender, files
        self.__dict__.update(STUDIES[recommender])
        self.known = {}

    def replay(self, part, settings):
        lanes = frontier.replay(self.args, [self.files[part]], [self.recommender], settings, self.args.feedback, self.args.mode)
        return lanes[self.recommender, self.resource]

    def cost(self, part, settings):
        """Returns (footprint at the compared harm, hidden figures) of these settings on a part."""
        key = part, tuple(sorted(settings.items()))
        if key not in self.known:
            dial, turns = self.dial
            lanes = [self.replay(part, {**settings, dial: turn})
                     for turn in turns]
            (x0, y0), (x1, y1) = ((math.log(max(lane[self.harm], 1e-9)), lane["footprint_of_owner"]) for lane in lanes)
            share = (math.log(self.at) - x0) / (x1 - x0) if x1 != x0 else 0.5
            hidden = [sum(lane[name] for lane in lanes) / 2 for name in self.hidden]
            self.known[key] = y0 + share * (y1 - y0), hidden
        return self.known[key]

    def mean(self, parts, settings):
        costs = [self.cost(part, settings) for part in parts]
        return (sum(c for c, _ in costs) / len(costs),
                [sum(h[i] for _, h in costs) / len(costs) for i in range(len(self.hidden))])

    def choice(self, parts, key):
        """Returns the value of a constant that costs least on these parts, with all other constants at their defaults."""
        default_cost, default_hidden = self.mean(parts, {})
        best, value = default_cost, self.values[key][0]
        for tried in self.values[key][1:]:
            cost, hidden = self.mean(parts, {key: tried})
            if cost < best and all(h <= HIDDEN_MORE * d for h, d in zip(hidden, default_hidden)):
                best, value = cost, tried
        return value


def show(args, title, files):
    folds = range(len(files))
    for recommender in args.recommenders or STUDIES:
        study = Study(args, recommender, files)
        others = [[p for p in folds if p != held] for held in folds]
        print(f"\n{title}, {recommender}: {study.resource}, footprint of owners' at {100 * study.at:g} %"
              f" {study.harm}\n{'constant':<31} {'default':>8}   chosen without part "
              + " ".join(f"{held + 1:>6}" for held in folds) + "   on all   of the defaults' footprint, by value")
        for key in study.values:
            chosen = [study.choice(parts, key) for parts in others]
            every = study.choice(list(folds), key)
            base = study.mean(list(folds), {})[0]
            by_value = ", ".join(f"{value}: {study.mean(list(folds), {key: value})[0] / base:.3f}"
                                 for value in study.values[key][1:])
            print(f"{key:<31} {str(study.values[key][0]):>8}   {'':<20}" + " ".join(f"{v!s:>6}" for v in chosen)
                  + f"   {every!s:>6}   {by_value}", flush=True)
        print(f"{'all that were chosen, together':<40} " + "   ".join(f"{'of ' + name:>26}" for name in study.hidden))
        for held in folds:
            settings = {key: study.choice(others[held], key) for key in study.values}
            settings = {key: value for key, value in settings.items() if value != study.values[key][0]}
            line = f"  on the parts they were chosen on / held out: "
            seen, unseen = (study.mean(parts, settings) for parts in (others[held], [held]))
            seen0, unseen0 = (study.mean(parts, {}) for parts in (others[held], [held]))
            line += f"{seen[0]:.3f} / {unseen[0]:.3f}, defaults {seen0[0]:.3f} / {unseen0[0]:.3f}; held out "
            line += ", ".join(f"{name} {h:.3f} (defaults {d:.3f})" for name, h, d in zip(study.hidden, unseen[1], unseen0[1]))
            print(f"part {held + 1}{line}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--parts", type=int, default=2)
    parser.add_argument("--block", type=int, default=25)
    parser.add_argument("--recommenders", type=lambda text: text.split(","), help=f"of {', '.join(STUDIES)}")
    parser.add_argument("--feedback", default="none")
    parser.add_argument("--mode", default="auto")
    parser.add_argument("--warmup", default="14d")
    parser.add_argument("--taut", default="build/release/bin/taut")
    parser.set_defaults(cache=None)
    args = parser.parse_args()
    unknown = set(args.recommenders or []) - set(STUDIES)
    if unknown:
        parser.error(f"no study of {', '.join(sorted(unknown))}: there are {', '.join(STUDIES)}")
    with parts_of(args.paths, args.parts, args.block) as files:
        show(args, f"{len(args.paths)} files from {pathlib.Path(args.paths[0]).name} on", files)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"cross_validation: {error.cmd[1]} failed with exit code {error.returncode}")
