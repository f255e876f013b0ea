#!/usr/bin/env python3
"""Compares the CPU seconds of tautline.replay on a pyarrow table and of taut replay on the trace's files, in alternating rounds.

Usage: python_replay.py TRACE... [--taut TAUT] [--rounds N] (with tautline and pyarrow installed)
"""
import argparse
import os
import resource
import subprocess
import sys
import time


def cpu_seconds(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", nargs="+")
    parser.add_argument("--taut", default="taut")
    parser.add_argument("--recommender", default="peak,moving_window,ensemble,analogs")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    began = time.perf_counter()
    code = "import time; t = time.perf_counter(); import tautline; print(time.perf_counter() - t)"
    importing = min(float(subprocess.check_output([sys.executable, "-c", code], text=True)) for _ in range(3))
    import tautline

    table = tautline.read_trace(args.trace).to_pyarrow()
    print(f"import {importing:.3f} s; {table.num_rows} rows read in {time.perf_counter() - began:.1f} s")
    ratios = []
    for _ in range(args.rounds):
        before = cpu_seconds(resource.RUSAGE_CHILDREN)
        subprocess.run([args.taut, "replay", *args.trace, "--recommender", args.recommender, "--warmup", "14d", "--quiet"],
                       check=True, stdout=subprocess.DEVNULL)
        of_taut = cpu_seconds(resource.RUSAGE_CHILDREN) - before
        before = cpu_seconds(resource.RUSAGE_SELF)
        result = tautline.replay(table, args.recommender.split(","), warmup="14d", progress=False)
        of_table = cpu_seconds(resource.RUSAGE_SELF) - before
        ratios.append(of_table / of_taut)
        print(f"taut replay {of_taut:.2f} s of CPU, tautline.replay {of_table:.2f} s, ratio {ratios[-1]:.3f}")
        del result
    print(f"least ratio {min(ratios):.3f} (budget 1.10), peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MiB")


if __name__ == "__main__":
    main()
