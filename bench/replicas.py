#!/usr/bin/env python3
"""Prints the number of tasks that replica policies need on load series, relative to the clairvoyant policy, and the share of
overloaded minutes. The policies are HPA at several targets, and `forecast` at the order whose share is at most HPA's share.

    bench/replicas.py                                    # the traces in ../shared/traces/horizontal
    bench/replicas.py --traces DIR --name input0 --name input8
    bench/replicas.py --change-price 16                  # forecast with more expensive starts

The load is scaled to a mean of 12 busy tasks. A task is ready 2 min after its start. A minute is overloaded above 80 %
of the ready tasks. The first 7 days are not measured (the defaults of `taut replay --replicas`). Takes about 20 s per trace.
"""
import argparse
import json
import pathlib
import subprocess
import sys

TARGETS = [0.7, 0.6, 0.5, 0.4]
ORDERS = [0.15, 0.12, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.025, 0.02, 0.015, 0.012, 0.01, 0.008, 0.006, 0.005, 0.004,
          0.003, 0.0025, 0.002, 0.0015, 0.001, 0.0007, 0.0005, 0.0003, 0.0002]


def replay(taut, path, policy, **settings):
    command = [taut, "replay", "--replicas", str(path), "--policies", policy, "--output", "json", "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key.replace('__', '.')}={value}"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return result["policies"][0]["total"]


def figures(score):
    return f"{score['task_hours_of_clairvoyant']:.3f} @ {100 * score['overloaded_share']:5.2f} %, {score['starts']:6d}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--taut", default=str(root / "build/release/bin/taut"))
    parser.add_argument("--traces", type=pathlib.Path, default=root.parent / "shared/traces/horizontal")
    parser.add_argument("--name", action="append", help="a file without .csv; may be repeated")
    parser.add_argument("--change-price", type=float, help="forecast.change_price; without it the default")
    args = parser.parse_args()
    priced = {} if args.change_price is None else {"forecast__change_price": args.change_price}
    names = args.name or ["input0", "input8", "input4", "nasa_per_minute"]
    if not args.traces.is_dir():
        sys.exit(f"SKIPPED: there are no traces in {args.traces}")
    print("trace            hpa target: tasks @ overloaded, starts   forecast: tasks @ overloaded, starts   fewer   order")
    for name in names:
        path = args.traces / f"{name}.csv"
        forecasts = {order: replay(args.taut, path, "forecast", forecast__overloaded=order, **priced) for order in ORDERS}
        for target in TARGETS:
            hpa = replay(args.taut, path, "hpa", hpa__target=target)
            fit = [(s["task_hours"], order) for order, s in forecasts.items()
                   if s["overloaded_share"] <= hpa["overloaded_share"]]
            row = f"{name:<16} {target}: {figures(hpa):<32}"
            if not fit:
                print(f"{row}    -")
                continue
            task_hours, order = min(fit)
            fewer = 1 - task_hours / hpa["task_hours"]
            print(f"{row}    {figures(forecasts[order]):<34} {100 * fewer:4.1f} %  {100 * order:g} %")
        off = [s["overloaded_share"] / order - 1 for order, s in forecasts.items() if order >= 0.002]
        print(f"{name:<16} delivered/ordered - 1, orders of 0.2 % and more: {min(off):+.2f} to {max(off):+.2f}\n")
    for name in names:
        for policy in ("static", "autopilot", "clairvoyant"):
            print(f"{name:<16} {policy:<12} {figures(replay(args.taut, args.traces / f'{name}.csv', policy))}")


if __name__ == "__main__":
    main()
