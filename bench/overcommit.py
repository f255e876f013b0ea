#!/usr/bin/env python3
"""Prints the footprint of peak predictors at equal shares of exceeded predictions, on machines made of a trace's tasks.

    bench/overcommit.py ../shared/traces/bitbrains_rnd/*.csv.gz                  # machines of 10, 25 and 100 tasks, 10 minutes
    bench/overcommit.py --sizes 25 --horizon 6h ../shared/traces/bitbrains_rnd/*.csv.gz
    bench/overcommit.py --sizes 25 --add 'name=pool:over={}:every=4h' ...        # one more predictor, by its target

A family is a predictor with one dial and some forms. The form is chosen for each share on one half of the tasks (alternate
blocks of 25 VMs), and the table shows the other half. The dial is then set so that the share is delivered there, by interpolation
between two settings. The last column compares with the best simple family of whole days, which is chosen in hindsight. Brackets
are 95 % intervals: draws of as many machines as the tasks of the half fill, the same for all families. A size for which a half
has too few tasks is shown on all tasks, with the forms of the size before it.
"""
import argparse
import json
import math
import random
import subprocess

import frontier

SHARES = [0.01, 0.03, 0.10]
DRAWS = 300
FACTORS = [0.9, 1, 1.1, 1.2, 1.3, 1.4, 1.6, 1.8, 2.1, 2.5, 3]
SIMPLE = {
    "maximum x factor": {f"{days} days": [f"machine-max:window={days}d:factor={f}" for f in FACTORS] for days in (7, 14)},
    "maximum + share of the tasks'": {
        f"{days} days, {factor} x": [f"machine-max:window={days}d:factor={factor}:share={s / 10}" for s in range(11)]
        for days in (7, 14) for factor in (1, 1.2)},
    "tasks' maxima x factor": {
        f"{days} days": [f"machine-max:window={days}d:factor={f}:share={f}" for f in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1)]
        for days in (7, 14)},
    "rc-like": {"7 days": [f"rc-like:percentile={p}" for p in (90, 95, 98, 99, 99.5, 99.9, 100)]},
    "n-sigma": {window: [f"n-sigma:window={window}:n={n}" for n in (1, 2, 3, 4, 5, 7, 10, 15)] for window in ("10h", "168h")},
}
# The families of machines' maxima, of only the hours that the horizon covers.
HOURS = {name + ", same hours": {form: [f"{spec}:hours={{horizon}}" for spec in specs] for form, specs in SIMPLE[name].items()}
         for name in ("maximum x factor", "maximum + share of the tasks'")}
TARGETS = [0.001, 0.003, 0.007, 0.015, 0.03, 0.05, 0.08, 0.13, 0.2]


def replay(args, path, size, seeds, specs):
    """Returns, by resource, the number of machines of a placement, and by spec a list of sums of each machine:
    predictions, predictions below the peak, predicted, limits, peaks."""
    out = {}
    for seed in seeds:
        command = [args.taut, "overcommit", *path, "--machine-tasks", str(size), "--placements", str(args.placements), "--seed",
                   str(seed), "--every", args.every, "--horizon", args.horizon, "--output", "json", "--quiet", "--predictors", ",".join(specs)]
        result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        for resource in result["resources"]:
            each, rows = out.setdefault(resource["resource"], (resource["machines"] // args.placements, {}))
            for spec, row in zip(specs, resource["predictors"]):
                for m in row["by_machine"]:
                    n, limit = m["predictions"], m["predictions"] * m["mean_limit"]
                    rows.setdefault(spec, []).append(
                        (n, n * m["below_share"], limit * m["footprint"], limit, limit * m["oracle_footprint"]))
    return out


def tasks_of(args, path):
    command = [args.taut, "overcommit", path, "--machine-tasks", "1", "--placements", "1", "--predictors", "limit", "--output", "json",
               "--quiet"]
    result = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return min(resource["tasks"] for resource in result["resources"])


def point(machines, drawn):
    n, below, predicted, limit = (sum(machines[i][k] for i in drawn) for k in range(4))
    return below / n, predicted / limit


def at_share(rows, specs, drawn, share):
    """Returns the least footprint at which the dial delivers the share; None if no setting has more or none has less."""
    points = [point(rows[spec], drawn) for spec in specs]
    found = []
    for (b0, f0), (b1, f1) in zip(points, points[1:]):
        low, high = sorted([(b0, f0), (b1, f1)])
        if low[0] > share or high[0] < share:
            continue
        part = 0 if low[0] == high[0] else (share - low[0]) / (high[0] - low[0])
        if low[0] > 0 and part > 0:
            part = math.log(share / low[0]) / math.log(high[0] / low[0])
        found.append(low[1] + part * (high[1] - low[1]))
    return min(found, default=None)


def interval(values, digits):
    values = sorted(v for v in values if v is not None)
    if len(values) < DRAWS / 2:
        return ""
    low, high = (values[round(q * (len(values) - 1))] for q in (0.025, 0.975))
    return f"[{low:{digits}} {high:{digits}}]"


def chosen_forms(rows, families):
    """Returns the form of each family and share with the least footprint, on the half for constants."""
    every = range(len(next(iter(rows.values()))))
    out = {}
    for name, forms in families.items():
        for share in SHARES:
            able = [(foot, form) for form, specs in forms.items() if (foot := at_share(rows, specs, every, share)) is not None]
            out[name, share] = min(able)[1] if able else next(iter(forms))
    return out


def table(title, each, rows, families, forms):
    count = len(next(iter(rows.values())))
    one = next(iter(rows.values()))
    oracle = sum(m[4] for m in one) / sum(m[3] for m in one)
    print(f"\n{title}; {count} machines, {sum(m[0] for m in one):,} predictions, oracle {oracle:.3f}")
    rng = random.Random(1)
    draws = [[rng.randrange(count) for _ in range(each)] for _ in range(DRAWS)]
    for share in SHARES:
        feet = {name: at_share(rows, forms_of[forms[name, share]], range(count), share) for name, forms_of in families.items()}
        spread = {name: [at_share(rows, forms_of[forms[name, share]], d, share) for d in draws] for name, forms_of in families.items()}
        able = [name for name in SIMPLE if feet[name] is not None]
        best = min(able, key=feet.get) if able else None
        for name, foot in feet.items():
            if foot is None:
                print(f"{100 * share:4g} %  {name:<30} -  (out of reach of its dial)", flush=True)
                continue
            ratios = [a / b - 1 for a, b in zip(spread[name], spread[best] if best else []) if a is not None and b is not None]
            against = "best simple" if name == best else f"{foot / feet[best] - 1:+.1%} {interval(ratios, '+.1%')}" if best else ""
            print(f"{100 * share:4g} %  {name:<30} {foot:.3f} {interval(spread[name], '.3f')}  {against}  ({forms[name, share]})",
                  flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--sizes", default="10,25,100", help="tasks on a machine")
    parser.add_argument("--horizon", default="24h")
    parser.add_argument("--every", default="6h", help="time between two predictions of a machine")
    parser.add_argument("--placements", type=int, default=4, help="placements of a cell")
    parser.add_argument("--seeds", default="11,12", help="of the placements that are shown")
    parser.add_argument("--tuning-seeds", default="21")
    parser.add_argument("--block", type=int, default=25)
    parser.add_argument("--add", action="append", default=[], metavar="NAME=SPEC", help="SPEC has {} in place of the target")
    parser.add_argument("--taut", default="build/release/bin/taut")
    args = parser.parse_args()
    families = SIMPLE | {"pool": {"": [f"pool:over={t}" for t in TARGETS]}}
    if args.horizon != "24h":
        families |= {name: {form: [spec.format(horizon=args.horizon) for spec in specs] for form, specs in forms.items()}
                     for name, forms in HOURS.items()}
    for name, _, spec in (text.partition("=") for text in args.add):
        families[name] = {"": [spec.format(t) for t in TARGETS]}
    specs = [spec for forms in families.values() for of in forms.values() for spec in of]
    seeds, tuning = ([int(s) for s in text.split(",")] for text in (args.seeds, args.tuning_seeds))
    forms = {}
    with frontier.parts_of(args.paths, 2, args.block) as halves:
        tasks = min(tasks_of(args, half) for half in halves)
        for size in map(int, args.sizes.split(",")):
            whole = size > tasks
            if not whole or not forms:
                forms = {resource: chosen_forms(rows, families)
                         for resource, (_, rows) in replay(args, halves[:1], min(size, tasks), tuning, specs).items()}
            shown = replay(args, args.paths if whole else halves[1:], size, seeds, specs)
            for resource, (each, rows) in shown.items():
                on = "all tasks" if whole else "the other half of the tasks"
                table(f"{resource}, {size} tasks a machine, {args.horizon}, {on}", each, rows, families, forms[resource])


if __name__ == "__main__":
    main()
