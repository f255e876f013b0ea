#!/usr/bin/env python3
"""Prints the number of tasks that `forecast` and the HPA need on load series, relative to the clairvoyant policy, and the
share of overloaded minutes. The HPA has several targets; `forecast` has the order with the fewest tasks whose share is at
most the HPA's share. Marks the points at which `forecast` saves too little or starts more tasks.

    bench/replicas.py                                    # traces of ../shared/traces/horizontal, spiky loads
    bench/replicas.py --traces DIR --name input0 --name spiky3
    bench/replicas.py --change-price 16                  # forecast with more expensive starts

The load is scaled to a mean of 12 busy tasks. A task is ready 2 min after its start. A minute is overloaded above 80 %
of the ready tasks. The first 7 days are not measured (the defaults of `taut replay --replicas`). spikyN is a load made
from the seed N: spikes at random times, of random height and decay. Takes about 30 s per load.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile

TARGETS = [0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4]
# Orders from 30 to 0.02 %. FINER orders are tried between the best order for a target of the HPA and the next order.
ORDERS = [float(f"{0.3 * 0.75**i:.3g}") for i in range(26)]
FINER = 5
SEASONAL = ["input0", "input8", "input14", "nasa_per_minute"]  # the aim is 20 % fewer tasks, elsewhere 5 %
NAMES = ["input0", "input8", "input14", "nasa_per_minute", "input2", "input4", "input6", "input12", "spiky11", "spiky12",
         "spiky13"]


def spiky(seed, minutes=24 * 1440):
    """Returns the load of each minute: noise, a small daily wave, and 14 spikes a day that halve in 5 to 40 minutes."""
    rng = random.Random(seed)
    load, noise, spikes = [], 0.0, []
    for m in range(minutes):
        noise += -0.02 * noise + 0.02 * rng.gauss(0, 1)
        if rng.random() < 14 / 1440:
            spikes.append((m, rng.randint(1, 4), math.exp(rng.gauss(0.7, 0.7)), rng.uniform(5, 40)))
        spikes = [s for s in spikes if m - s[0] < 12 * s[3]]
        up = sum(height * min(1, (m - begin + 1) / rise) * 2 ** (-max(0, m - begin - rise) / half_life)
                 for begin, rise, height, half_life in spikes)
        wave = 1 + 0.2 * math.sin(m * 2 * math.pi / 1440)
        load.append(max(0.0, wave * math.exp(noise) * (1 + up) * (1 + 0.03 * rng.gauss(0, 1))))
    return load


def path_of(name, traces, scratch):
    if not name.startswith("spiky"):
        return traces / f"{name}.csv"
    path = pathlib.Path(scratch) / f"{name}.csv"
    path.write_text("ts,value\n" + "".join(f"{60 * m},{v:.5f}\n" for m, v in enumerate(spiky(int(name[5:])))))
    return path


def replay(taut, path, policy, **settings):
    command = [taut, "replay", "--replicas", str(path), "--policies", policy, "--output", "json", "--quiet"]
    for key, value in settings.items():
        command += ["--set", f"{key.replace('__', '.')}={value}"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return result["policies"][0]["total"]


def figures(score):
    return f"{score['task_hours_of_clairvoyant']:.3f} @ {100 * score['overloaded_share']:5.2f} %, {score['starts']:6d}"


def finer_orders(hpas, forecasts):
    """Returns the orders between the best order for each target of the HPA and the next higher order."""
    out = set()
    for hpa in hpas.values():
        fit = [(s["task_hours"], order) for order, s in forecasts.items() if s["overloaded_share"] <= hpa["overloaded_share"]]
        higher = [order for order in forecasts if fit and order > min(fit)[1]]
        if higher:
            low, high = min(fit)[1], min(higher)
            out.update(float(f"{low * (high / low) ** (i / FINER):.3g}") for i in range(1, FINER))
    return out - forecasts.keys()


def compare(name, hpas, forecasts):
    """Prints a row per target of the HPA. Returns the saved shares and the marks."""
    saved, marks = [], []
    for target, hpa in hpas.items():
        fit = [(s["task_hours"], order) for order, s in forecasts.items() if s["overloaded_share"] <= hpa["overloaded_share"]]
        row = f"{name:<16} {target:<4}: {figures(hpa):<32}"
        if not fit:
            print(f"{row}    -")
            continue
        task_hours, order = min(fit)
        saved.append(1 - task_hours / hpa["task_hours"])
        aim = 0.2 if name in SEASONAL else 0.05
        marks.append("dominated" if saved[-1] < 0 else "below the aim" if saved[-1] < aim else "")
        more = forecasts[order]["starts"] / max(1, hpa["starts"])
        print(f"{row}    {figures(forecasts[order]):<34} {100 * saved[-1]:5.1f} %  {more:5.2f}  {100 * order:<5g} %  "
              f"{marks[-1]}{', more starts' if more > 1 else ''}")
    off = [s["overloaded_share"] / order - 1 for order, s in forecasts.items() if order >= 0.002]
    print(f"{name:<16} delivered/ordered - 1, orders of 0.2 % and more: {min(off):+.2f} to {max(off):+.2f}\n")
    return saved, marks


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    root = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("--taut", default=str(root / "build/release/bin/taut"))
    parser.add_argument("--traces", type=pathlib.Path, default=root.parent / "shared/traces/horizontal")
    parser.add_argument("--name", action="append", help="a file without .csv, or spikyN; may be repeated")
    parser.add_argument("--change-price", type=float, help="forecast.change_price; without it the default")
    parser.add_argument("--jobs", type=int, default=2, help="replays at the same time")
    args = parser.parse_args()
    priced = {} if args.change_price is None else {"forecast__change_price": args.change_price}
    if not args.traces.is_dir():
        sys.exit(f"SKIPPED: there are no traces in {args.traces}")
    print("load             hpa target: tasks @ overloaded, starts    forecast: tasks @ overloaded, starts  fewer  starts of "
          "hpa  order")
    saved, marks = [], []
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for name in args.name or NAMES:
            path = path_of(name, args.traces, scratch)
            hpas = dict(zip(TARGETS, pool.map(lambda t: replay(args.taut, path, "hpa", hpa__target=t), TARGETS)))
            forecasts, orders = {}, ORDERS
            for _ in range(2):
                forecasts.update(zip(orders, pool.map(
                    lambda o: replay(args.taut, path, "forecast", forecast__overloaded=o, **priced), orders)))
                orders = sorted(finer_orders(hpas, forecasts))
            of_load = compare(name, hpas, forecasts)
            saved += of_load[0]
            marks += of_load[1]
            for policy in ("static", "autopilot", "clairvoyant"):
                print(f"{name:<16} {policy:<12} {figures(replay(args.taut, path, policy))}")
            print(flush=True)
    print(f"{len(saved)} points: fewer tasks {100 * min(saved):.1f} to {100 * max(saved):.1f} %, dominated "
          f"{marks.count('dominated')}, below the aim {marks.count('below the aim')}")


if __name__ == "__main__":
    main()
