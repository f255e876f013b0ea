#!/usr/bin/env python3
"""Prints how many VMs fit on a machine by promises for parts of the day. Needs numpy.

    bench/day_parts.py ../shared/traces/bitbrains_rnd/*.csv.gz        # 4 minutes

VMs in random order fill 8 machines, whose capacity is 6 times the mean limit, until 40 VMs in a row fit on no machine. A VM fits
if the promise of each part of the day, times a factor, is at most the capacity; of several machines it takes the fullest. A promise
covers the last 14 days: the sum of the VMs' own highest usages of the part, or the highest sum of their usages. The next 7 days are
judged: the share of machine-days whose peak exceeds the capacity. The factor is set so that 1, 3 or 10 % are exceeded, by
interpolation. The means are over 5 times and 4 seeds, on the second of alternate blocks of 25 VMs.
"""
import argparse
import csv
import gzip

import numpy as np

WINDOWS, HISTORY, JUDGED, MACHINES, CAPACITY = 288, 14, 7, 8, 6  # windows a day, days, days, machines, mean limits
STARTS = (21, 28, 35, 42, 49)
SHARES = (0.01, 0.03, 0.10)
RULES = [("own highest usages", 1, True), ("own, 4 parts", 4, True), ("own, 6 parts", 6, True), ("own, 12 parts", 12, True),
         ("highest sum", 1, False)]
FACTORS = (0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 1, 1.2, 1.4, 1.7, 2)


def usage_of(paths, resource):
    """Returns the usage and the limit of the VMs that are present throughout, by VM and window."""
    rows = []
    for path in paths:
        with gzip.open(path, "rt") as lines:
            for row in csv.DictReader(lines):
                if resource == "cpu":
                    limit = float(row["cores"] or 0)
                    used = float(row["cpu_mhz"] or "nan") / float(row["cpu_cap_mhz"] or "nan") * limit
                else:
                    used, limit = float(row["mem_kb"] or "nan"), float(row["mem_cap_kb"] or 0)
                rows.append((int(row["vm"]), int(row["ts_s"]) // 300, used, limit))
    data = np.array(rows)
    vms, at = np.unique(data[:, 0], return_inverse=True)
    window = data[:, 1].astype(int)
    window -= window.min() // WINDOWS * WINDOWS
    days = window.max() // WINDOWS + 1
    usage, limit = np.full((len(vms), days * WINDOWS), np.nan), np.zeros(len(vms))
    np.fmax.at(usage, (at, window), data[:, 2])
    np.maximum.at(limit, at, data[:, 3])
    throughout = np.isfinite(usage).sum(1) >= 0.9 * np.isfinite(usage).any(0).sum()
    chosen = throughout & (limit > 0) & (np.arange(len(vms)) // 25 % 2 == 1)
    return np.minimum(np.nan_to_num(usage[chosen]), limit[chosen, None]), limit[chosen]


def place(usage, limit, parts, own, factor, start, seed):
    """Returns VMs a machine, and the share of machine-days above the capacity."""
    rng = np.random.default_rng(seed)
    past = usage[:, (start - HISTORY) * WINDOWS:start * WINDOWS]
    peaks = past.reshape(len(usage), HISTORY, parts, -1).max((1, 3))
    capacity = CAPACITY * limit.mean()
    sums, owns = np.zeros((MACHINES, past.shape[1])), np.zeros((MACHINES, parts))
    held, misses = [set() for _ in range(MACHINES)], 0
    for vm in np.concatenate([rng.permutation(len(usage)) for _ in range(30)]):
        promise = factor * ((owns + peaks[vm]).max(1) if own else (sums + past[vm]).max(1))
        fits = (promise <= capacity) & np.array([vm not in machine for machine in held])
        misses = 0 if fits.any() else misses + 1
        if misses >= 40:
            break
        if fits.any():
            to = int(np.argmax(np.where(fits, promise, -1)))
            sums[to] += past[vm]
            owns[to] += peaks[vm]
            held[to].add(vm)
    future = slice(start * WINDOWS, (start + JUDGED) * WINDOWS)
    days = np.array([usage[list(machine), future].sum(0).reshape(JUDGED, -1).max(1) for machine in held])
    return sum(map(len, held)) / MACHINES, (days > capacity).mean()


def at_share(points, share):
    """Returns the most VMs at which the share is exceeded, between two factors; points are (VMs, share) by rising factor."""
    found = []
    for (n0, s0), (n1, s1) in zip(points, points[1:]):
        if s0 >= share >= s1:
            found.append(n0 + (s0 - share) / max(1e-9, s0 - s1) * (n1 - n0))
    return max(found, default=float("nan"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    for resource in ("memory", "cpu"):
        usage, limit = usage_of(args.paths, resource)
        print(f"{resource}, {len(usage)} VMs: VMs a machine at 1 / 3 / 10 % of machine-days exceeded")
        for name, parts, own in RULES:
            points = [tuple(np.mean([place(usage, limit, parts, own, factor, start, seed) for start in STARTS for seed in range(4)], 0))
                      for factor in FACTORS]
            print(f"  {name:<20}", " / ".join(f"{at_share(points, share):.1f}" for share in SHARES), flush=True)


if __name__ == "__main__":
    main()
