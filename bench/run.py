#!/usr/bin/env python3
"""Runs the benchmarks and prints one table: name | measured | budget | ok?

usage: bench/run.py [--bin DIR] [FILTER]      DIR: default build/release/bin; FILTER: as --benchmark_filter

A benchmark defines its budget as a counter. budget_ns and budget_s are compared with the time per iteration, budget_per_s
with items_per_second, budget_bytes_per_s with bytes_per_second, and budget_bytes with median_bytes. Timings depend on other
load of the machine: a missed budget is a reason to investigate, not a failed test. The exit status is not 0 only if a
benchmark could not run.

At the end, this program runs the programs bench/agent_*.py whose name contains FILTER, or all of these programs without FILTER.
Each takes some minutes and prints rows of the same form.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def scaled(value, units):
    """Formats a value with the largest fitting unit. Units such as ("B", "KiB") are steps of 1024, others such as ("ns", "us") of 1000."""
    step = 1024 if units[0] == "B" else 1000
    for unit in units[:-1]:
        if abs(value) < step:
            return f"{value:.4g} {unit}"
        value /= step
    return f"{value:.4g} {units[-1]}"


TIME = ("ns", "us", "ms", "s")
RATE = ("/s", "k/s", "M/s", "G/s")
BYTE_RATE = ("B/s", "kB/s", "MB/s", "GB/s")
BYTES = ("B", "KiB", "MiB")


def row(bench):
    """Returns texts: the measurement, the budget, and whether the budget is met ("" without a budget)."""
    time_ns = bench["real_time"] * NS[bench["time_unit"]]
    # A label contains a budget such as "budget 0.3 s" for the time of one iteration, or "budget p99 1 ms" for the counter p99_us.
    in_label = re.search(r"\bbudget (p99 )?([0-9.]+) (ns|us|ms|s)\b", bench.get("label", ""))
    if in_label:
        measured, budget = bench["p99_us"] * 1e3 if in_label[1] else time_ns, float(in_label[2]) * NS[in_label[3]]
        return scaled(measured, TIME), "<= " + scaled(budget, TIME), measured <= budget
    if "budget_per_s" in bench:
        rate, budget = bench["items_per_second"], bench["budget_per_s"]
        return scaled(rate, RATE), ">= " + scaled(budget, RATE), rate >= budget
    if "budget_bytes_per_s" in bench:
        rate, budget = bench["bytes_per_second"], bench["budget_bytes_per_s"]
        return scaled(rate, BYTE_RATE), ">= " + scaled(budget, BYTE_RATE), rate >= budget
    if "budget_bytes" in bench:
        size, budget = bench["median_bytes"], bench["budget_bytes"]
        return scaled(size, BYTES), "<= " + scaled(budget, BYTES), size <= budget
    budget = bench.get("budget_ns", bench.get("budget_s", 0) * NS["s"])
    if budget:
        return scaled(time_ns, TIME), "<= " + scaled(budget, TIME), time_ns <= budget
    rate = bench.get("bytes_per_second")
    if rate is not None:
        return scaled(rate, BYTE_RATE), "", None
    rate = bench.get("items_per_second")
    return (scaled(time_ns, TIME) if rate is None else scaled(rate, RATE)), "", None


def run(binary, pattern):
    command = [str(binary), "--benchmark_format=json"]
    if pattern:
        command.append(f"--benchmark_filter={pattern}")
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{binary.name} failed:\n{done.stderr}")
    # A filter that matches nothing in this binary produces no JSON.
    return json.loads(done.stdout)["benchmarks"] if done.stdout.strip() else []


AGENTS = ("agent_cost", "agent_latency", "agent_swarm")
SKIPPED = 77


def run_agents(root, bin_dir, pattern):
    """Returns the number of programs that could not run."""
    failed = 0
    for name in AGENTS:
        if pattern in name:
            print(f"{name}:", flush=True)
            code = subprocess.run([sys.executable, root / "bench" / f"{name}.py", "--bin", bin_dir], check=False).returncode
            failed += code not in (0, SKIPPED)
    return failed


def main():
    root = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", type=pathlib.Path, default=root / "build" / "release" / "bin")
    parser.add_argument("filter", nargs="?", default="")
    args = parser.parse_args()
    binaries = sorted(args.bin.glob("*_bench"))
    if not binaries:
        sys.exit(f"no benchmarks in {args.bin}: build them first")
    print(f"{'what':<58} {'measured':>13} {'budget':>14}  ok?")
    failed = 0
    for binary in binaries:
        room = binary.name.removesuffix("_bench")
        for bench in run(binary, args.filter):
            name = f"{room}: {bench['name'].removeprefix('BM_')}"
            if bench.get("error_occurred"):
                print(f"{name:<58} {bench['error_message']}", flush=True)
                failed += 1
                continue
            measured, budget, kept = row(bench)
            verdict = "" if kept is None else "yes" if kept else "NO"
            print(f"{name:<58} {measured:>13} {budget:>14}  {verdict}".rstrip(), flush=True)
    failed += run_agents(root, args.bin, args.filter)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
