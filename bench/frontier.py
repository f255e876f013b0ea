#!/usr/bin/env python3
"""Prints the frontier of footprint against harm on a trace. The footprint is the amount that a recommender reserves, as a share of
the owners' limits. Harm is the effect on jobs: OOM-days, OOMs, throttled work and limit changes.

    bench/frontier.py ../shared/traces/bitbrains_rnd/*.csv.gz
    bench/frontier.py --generated                               # a generated cell of 200 jobs (taut trace generate)
    bench/frontier.py --parts 2 ../shared/traces/bitbrains_rnd/*.csv.gz    # each half of the VMs by itself
    bench/frontier.py --orders ../shared/traces/bitbrains_rnd/*.csv.gz     # delivered and ordered risk
    bench/frontier.py --peaks ../shared/traces/bitbrains_rnd/*.csv.gz      # each order compared with the best peak, 10 minutes
    bench/frontier.py --modes ../shared/traces/bitbrains_rnd/*.csv.gz      # with tautd's rules for changes; by class and size
    bench/frontier.py --all ../shared/traces            # all tables above and the cross-validation of constants, 50 minutes

--parts splits the compact Bitbrains files by VM number into this many consecutive ranges, or with --block 25 into alternate
blocks of 25 VMs. Constants that were chosen on one part can then be checked on another part. Every row is one replay. No limit
is capped at the owner's limit. Takes 2 minutes per part for Bitbrains, most of it for the
boosted recommender.
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
BOOSTED = [(0.01, 0.0007), (0.03, 0.001), (0.08, 0.003)]  # ordered OOM-days of memory, and throttled work of CPU
THROTTLED = [0.0007, 0.001, 0.002, 0.003, 0.005]
HEADS = ("memory: of owners' @ OOM-days  OOMs/task-day  serious  changes  none  slack",
         "CPU: of owners' @ throttled work  over-days  changes  none  slack")


def replay(args, paths, recommender, settings, feedback=None):
    command = [args.taut, "replay", *paths, "--warmup", args.warmup, "--recommender", recommender,
               "--feedback", feedback or args.feedback, "--mode", args.mode, "--output", "json", "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {lane["resource"]: lane for lane in result["lanes"]}


def memory(lane):
    return (f"{lane['footprint_of_owner']:.3f} @ {100 * lane['oom_day_share']:5.2f} %  {lane['ooms_per_task_day']:.3f}"
            f"  {100 * lane['serious_oom_days'] / lane['job_days']:5.2f} %  {lane['changes_per_job_day']:.2f}"
            f"  {100 * lane['share_of_days_without_change']:3.0f} %  {100 * lane['slack_mean']:3.0f} %")


def cpu(lane):
    return (f"{lane['footprint_of_owner']:.3f} @ {100 * lane['usage_over_share']:5.2f} %"
            f"  {100 * lane['oom_day_share']:5.1f} %  {lane['changes_per_job_day']:.2f}"
            f"  {100 * lane['share_of_days_without_change']:3.0f} %  {100 * lane['slack_mean']:3.0f} %")


def rows(only):
    """Returns rows of (name, recommender, settings)."""
    both = [("vpa", "vpa", {}), ("krr", "krr", {}), ("crane", "crane", {})]
    both += [(f"peak of {days} days, +15 %", "peak", {"peak.window": f"{days}d"}) for days in (4, 7, 14, 28)]
    both += [(f"moving_window, {tolerance}", "moving_window", {"moving_window.oom_tolerance": tolerance})
             for tolerance in ("minimal", "low")]
    both += [("ensemble", "ensemble", {})]
    both += [(f"ensemble, w_over {price}", "ensemble",
              {"ensemble.w_over": price, "ensemble.cpu_w_over": price}) for price in (300, 3000, 30000)]
    both += [(f"analogs, ordered {100 * share:g} %", "analogs",
              {"analogs.memory_oom_days": share, "analogs.cpu_oom_days": share}) for share in SHARES]
    both += [(f"work_function, {100 * share:g} %", "work_function", {"work_function.cpu_throttled": share})
             for share in THROTTLED]
    both += [(f"boosted, {100 * days:g} and {100 * work:g} %", "boosted",
              {"analogs.memory_oom_days": days, "work_function.cpu_throttled": work}) for days, work in BOOSTED]
    return [row for row in both if not only or row[1] in only]


# Settings of ordered risks: (name, recommender, setting, resource, values).
ORDERS = [("OOM-days of all jobs", "analogs", "analogs.memory_oom_days", "memory", (0.01, 0.03, 0.08)),
          ("OOM-days of each job", "analogs", "analogs.job_order", "memory", (0.003, 0.01, 0.03, 0.13)),
          ("throttled work of all jobs", "work_function", "work_function.cpu_throttled", "cpu", (0.001, 0.003, 0.005)),
          ("throttled work of each job", "work_function", "work_function.job_order", "cpu", (0.001, 0.005))]


def orders(args, title, paths):
    print(f"\n{title}: ordered, and delivered without feedback / with OOM kills and cut CPU; * is off by over a fifth;"
          " stated: the mean chance of a day above the limit")
    for what, recommender, setting, resource, shares in ORDERS:
        for share in shares:
            texts = []
            for feedback in ("none", "oom-restart"):
                lane = replay(args, paths, recommender, {setting: share}, feedback)[resource]
                got = lane["oom_day_share" if resource == "memory" else "usage_over_share"]
                star = "*" if abs(got / share - 1) > 0.2 else " "
                stated = [f", stated {100 * total['lifetime']['promised']:.3g} %" for total in lane["promises"]["totals"]
                          if total["promise"] == "chance"]
                texts.append(f"{100 * got:6.3f} %{star} at {lane['footprint_of_owner']:.3f}{''.join(stated)}")
            print(f"{what:<27} {100 * share:5.2g} %:  " + "   ".join(texts), flush=True)


def peaks(args, title, paths):
    """For each order of analogs, prints the cheapest `peak`, over all numbers of days and margins, that has no more OOM-days."""
    tried = []
    for days in (3, 4, 5, 7, 10, 14, 21, 28):
        for margin in (0.05, 0.15, 0.3, 0.5, 0.6, 1.0):
            lane = replay(args, paths, "peak", {"peak.window": f"{days}d", "peak.margin": margin})["memory"]
            tried.append((lane["footprint_of_owner"], lane["oom_day_share"], lane["ooms_per_task_day"], days, margin))
    print(f"\n{title}: memory of owners' @ OOM-days, OOMs/task-day")
    for share in SHARES:
        lane = replay(args, paths, "analogs", {"analogs.memory_oom_days": share})["memory"]
        line = f"analogs, ordered {100 * share:g} %: {memory(lane)}"
        able = [t for t in tried if t[1] <= lane["oom_day_share"]]
        if able:
            size, ooms, kills, days, margin = min(able)
            line += (f";  best peak {size:.3f} @ {100 * ooms:.2f} %, {kills:.3f} ({days} days + {100 * margin:g} %): "
                     f"{100 * (lane['footprint_of_owner'] / size - 1):+.0f} %")
        print(line, flush=True)


def modes(args, title, paths):
    """Prints the cost of the defaults with tautd's rules for changes, and the delivered part of each order, by class and size."""
    print(f"\n{title}: combined by mode\n{'':<26}  {HEADS[0]:<64}  {HEADS[1]}")
    for mode in ("recommend", "auto", "canary"):
        for feedback in ("none", "oom-restart"):
            lanes = replay(argparse.Namespace(**{**vars(args), "mode": mode}), paths, "combined", {}, feedback)
            what = mode + (", with OOM kills" if feedback != "none" else "")
            print(f"{what:<26}  {memory(lanes['memory']):<64}  {cpu(lanes['cpu'])}", flush=True)
            if mode != "auto":
                continue
            for resource, lane in lanes.items():
                for row in [*lane["promises"]["totals"], *lane["promises"]["rows"]]:
                    sums = row["lifetime"]
                    if row["promise"] == "none" or not sums["promised"] or sums["job_days"] < 100:
                        continue
                    of = f"{row['class']}, {row['size']}" if "class" in row else "all"
                    print(f"  {resource}, {row['promise']}, {of}: promised {100 * sums['promised']:.2g} %, "
                          f"delivered {100 * sums['delivered']:.2g} % of {sums['job_days']:.0f} job-days")


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


def table(args, title, paths):
    print(f"\n{title}\n{'':<26}  {HEADS[0]:<64}  {HEADS[1]}")
    for what, recommender, settings in rows(args.recommenders):
        lanes = replay(args, paths, recommender, settings)
        print(f"{what:<26}  {memory(lanes['memory']):<64}  {cpu(lanes['cpu'])}", flush=True)


def generated(args, folder):
    cell = f"{folder}/cell.csv.gz"
    subprocess.run([args.taut, "trace", "generate", cell, "--jobs", "200", "--days", "42"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return [cell]


def everything(args, root):
    """Prints all tables for the generated cell and for each trace with owners' limits below a folder: cost, delivered orders, best peaks, and
    the constants that each part of the trace selects."""
    root = pathlib.Path(root)
    bitbrains = sorted(str(path) for path in root.glob("bitbrains_rnd/*.csv.gz"))
    if not bitbrains:
        sys.exit(f"frontier: no bitbrains_rnd/*.csv.gz in {root}")
    for path in sorted(root.iterdir()):
        if path.is_dir() and path.name != "bitbrains_rnd":
            print(f"left out: {path.name}: no usage of tasks over weeks beside their owners' limits")
    with tempfile.TemporaryDirectory() as folder:
        for title, paths in (("Bitbrains rnd", bitbrains), ("generated cell, 200 jobs, 42 days", generated(args, folder))):
            for show in (table, modes, orders, peaks):
                show(args, title, paths)
    sys.stdout.flush()
    here = pathlib.Path(__file__).resolve().parent
    subprocess.run([sys.executable, here / "cross_validation.py", "--taut", args.taut, *bitbrains], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--generated", action="store_true", help="a made cell in place of a trace")
    parser.add_argument("--all", action="store_true", help="everything, of every trace in a folder that has what it needs")
    parser.add_argument("--parts", type=int, default=1)
    parser.add_argument("--block", type=int, default=0, help="with --parts: alternate blocks of this number of VMs")
    parser.add_argument("--orders", action="store_true", help="ordered beside delivered, in both feedback modes")
    parser.add_argument("--peaks", action="store_true", help="the best peak beside each order of analogs")
    parser.add_argument("--modes", action="store_true", help="the defaults in each mode; promised and delivered by class and size")
    parser.add_argument("--recommenders", type=lambda text: text.split(","), help="only these")
    parser.add_argument("--feedback", default="none", help="none or oom-restart, as of taut replay")
    parser.add_argument("--mode", default="recommend", help="recommend, observe, canary or auto, as of taut replay")
    parser.add_argument("--warmup", default="14d")
    parser.add_argument("--taut", default="build/release/bin/taut")
    args = parser.parse_args()
    if args.generated == bool(args.paths) or (args.all and len(args.paths) != 1):
        parser.error("give a trace, or --generated, or --all and the folder of the traces")
    if args.all:
        everything(args, args.paths[0])
        return
    show = orders if args.orders else peaks if args.peaks else modes if args.modes else table
    if args.generated:
        with tempfile.TemporaryDirectory() as folder:
            show(args, "generated cell, 200 jobs, 42 days", generated(args, folder))
    elif args.parts == 1:
        show(args, ", ".join(pathlib.Path(path).name for path in args.paths), args.paths)
    else:
        with parts_of(args.paths, args.parts, args.block) as files:
            for i, file in enumerate(files):
                show(args, f"part {i + 1} of {args.parts}", [file])


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"frontier: {error.cmd[1]} failed with exit code {error.returncode}")
