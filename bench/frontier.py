#!/usr/bin/env python3
"""Prints the frontier of footprint against harm on a trace: what each recommender reserves, as a share of the owners'
limits, and what it costs the jobs (OOM-days, OOMs, throttled work, limit changes).

    bench/frontier.py ../shared/traces/bitbrains_rnd/*.csv.gz
    bench/frontier.py --generated                               # a calm cell of 200 jobs, as `taut generate` makes it
    bench/frontier.py --parts 2 ../shared/traces/bitbrains_rnd/*.csv.gz    # each half of the VMs by itself

--parts splits the compact Bitbrains files by VM number, so that constants that were chosen on one part can be checked
on another. Every row is one replay; nobody is capped at the owner's limit. 20 s a part for Bitbrains.
"""
import argparse
import contextlib
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

SHARES = [0.01, 0.018, 0.03, 0.05, 0.08, 0.13]
THROTTLED = [0.0007, 0.001, 0.002, 0.003, 0.005]
HEADS = ("memory: of owners' @ OOM-days  OOMs/task-day  serious  changes  none",
         "CPU: of owners' @ throttled work  over-days  changes  none")


def replay(args, paths, recommender, settings):
    command = [args.taut, "replay", *paths, "--warmup", args.warmup, "--recommender", recommender,
               "--feedback", args.feedback, "--mode", args.mode, "--output", "json", "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {lane["resource"]: lane for lane in result["lanes"]}


def memory(lane):
    return (f"{lane['footprint_of_owner']:.3f} @ {100 * lane['oom_day_share']:5.2f} %  {lane['ooms_per_task_day']:.3f}"
            f"  {100 * lane['serious_oom_days'] / lane['job_days']:5.2f} %  {lane['changes_per_job_day']:.2f}"
            f"  {100 * lane['share_of_days_without_change']:3.0f} %")


def cpu(lane):
    return (f"{lane['footprint_of_owner']:.3f} @ {100 * lane['usage_over_share']:5.2f} %"
            f"  {100 * lane['oom_day_share']:5.1f} %  {lane['changes_per_job_day']:.2f}"
            f"  {100 * lane['share_of_days_without_change']:3.0f} %")


def rows(only):
    """(what, recommender, settings)"""
    both = [("vpa", "vpa", {}), ("krr", "krr", {}), ("crane", "crane", {})]
    both += [(f"peak of {days} days, +15 %", "peak", {"peak.days": days}) for days in (4, 7, 14, 28)]
    both += [(f"moving_window, {tolerance}", "moving_window", {"moving_window.oom_tolerance": tolerance})
             for tolerance in ("minimal", "low")]
    both += [("ensemble", "ensemble", {})]
    both += [(f"ensemble, w_over {price}", "ensemble",
              {"ensemble.w_over": price, "ensemble.cpu_w_over": price}) for price in (300, 3000, 30000)]
    both += [(f"analogs, ordered {100 * share:g} %", "analogs",
              {"analogs.memory_oom_days": share, "analogs.cpu_oom_days": share}) for share in SHARES]
    both += [(f"work_function, {100 * share:g} %", "work_function", {"work_function.cpu_throttled": share})
             for share in THROTTLED]
    return [row for row in both if not only or row[1] in only]


@contextlib.contextmanager
def parts_of(paths, parts):
    """The VMs of the compact Bitbrains files in `parts` files, by their numbers."""
    with tempfile.TemporaryDirectory() as folder:
        out = [gzip.open(pathlib.Path(folder) / f"part{i + 1}.csv.gz", "wt", compresslevel=1) for i in range(parts)]
        numbers = set()
        for path in paths:
            with gzip.open(path, "rt") as lines:
                next(lines)
                numbers.update(int(line.split(",", 1)[0]) for line in lines)
        part = {vm: i * parts // len(numbers) for i, vm in enumerate(sorted(numbers))}
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


def table(args, title, paths):
    print(f"\n{title}\n{'':<26}  {HEADS[0]:<64}  {HEADS[1]}")
    for what, recommender, settings in rows(args.recommenders):
        lanes = replay(args, paths, recommender, settings)
        print(f"{what:<26}  {memory(lanes['memory']):<64}  {cpu(lanes['cpu'])}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--generated", action="store_true", help="a made cell in place of a trace")
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--recommenders", type=lambda text: text.split(","), help="only these")
    parser.add_argument("--feedback", default="none", help="none or oom-restart, as of taut replay")
    parser.add_argument("--mode", default="recommend", help="recommend, observe, canary or auto, as of taut replay")
    parser.add_argument("--warmup", default="14d")
    parser.add_argument("--taut", default="build/release/bin/taut")
    args = parser.parse_args()
    if args.generated == bool(args.paths):
        parser.error("give a trace, or --generated")
    if args.generated:
        with tempfile.TemporaryDirectory() as folder:
            cell = f"{folder}/cell.csv.gz"
            subprocess.run([args.taut, "generate", cell, "--jobs", "200", "--days", "42"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            table(args, "generated cell, 200 jobs, 42 days", [cell])
    elif args.parts == 1:
        table(args, ", ".join(pathlib.Path(path).name for path in args.paths), args.paths)
    else:
        with parts_of(args.paths, args.parts) as files:
            for i, file in enumerate(files):
                table(args, f"part {i + 1} of {args.parts}", [file])


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"frontier: {error.cmd[1]} failed with exit code {error.returncode}")
