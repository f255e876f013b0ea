#!/usr/bin/env python3
"""Prints the frontier of footprint against OOM-days on a trace: analogs at several ordered risks, the ensemble at
several prices, peak over several spans, and the VPA.

    bench/frontier.py ../shared/traces/bitbrains_rnd/*.csv.gz [--warmup 14d] [--taut build/release/bin/taut]
"""
import argparse
import json
import subprocess
import sys

SHARES = [0.018, 0.03, 0.05, 0.08, 0.13]


def replay(args, recommender, settings):
    command = [args.taut, "replay", *args.paths, "--warmup", args.warmup, "--recommender", recommender,
               "--output", "json", "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key}={value}"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return {lane["resource"]: lane for lane in result["lanes"]}


def show(what, lanes):
    cells = []
    for resource in ("memory", "cpu"):
        lane = lanes[resource]
        cells.append(f"{lane['footprint_of_owner']:.3f} @ {100 * lane['oom_day_share']:4.1f} %  "
                     f"{lane['changes_per_job_day']:.2f}  {100 * lane['share_of_days_without_change']:3.0f} %")
    print(f"{what:<34}  {cells[0]:<32}  {cells[1]}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--warmup", default="14d")
    parser.add_argument("--taut", default="build/release/bin/taut")
    args = parser.parse_args()
    print(f"{'':<34}  {'memory':<32}  CPU")
    print(f"{'':<34}  {'footprint @ OOM-days, changes':<32}  footprint @ over-days, changes")
    print(f"{'':<34}  {'a job-day, days without':<32}  a job-day, days without")
    show("vpa", replay(args, "vpa", {}))
    for days in (4, 7, 14, 28):
        show(f"peak of {days} days, +15 %", replay(args, "peak", {"peak.days": days}))
    for price in (1000, 3000, 10000, 30000):
        show(f"ensemble, w_over {price}", replay(args, "ensemble", {"ensemble.w_over": price}))
    for share in SHARES:
        show(f"analogs, ordered {100 * share:g} %",
             replay(args, "analogs", {"analogs.memory_oom_days": share, "analogs.cpu_oom_days": share}))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"frontier: {error.cmd[1]} failed with exit code {error.returncode}")
