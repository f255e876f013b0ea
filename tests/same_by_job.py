#!/usr/bin/env python3
"""Compares two replay results whose jobs were in different orders: sums may differ in their last digits.

    same_by_job.py ONE.json OTHER.json RECOMMENDER,...
"""
import json
import sys


def main():
    one, other = (json.load(open(path)) for path in sys.argv[1:3])
    wanted = set(sys.argv[3].split(","))
    lanes = 0
    for a, b in zip(one["lanes"], other["lanes"]):
        if a["recommender"] not in wanted:
            continue
        for name, said in a.items():
            if isinstance(said, float) and abs(said - b[name]) > 1e-9 * max(abs(said), abs(b[name])):
                sys.exit(f"{a['recommender']} {a['resource']}: {name} is {said} and {b[name]}")
            if isinstance(said, (int, str)) and said != b[name]:
                sys.exit(f"{a['recommender']} {a['resource']}: {name} is {said} and {b[name]}")
        lanes += 1
    print(f"{lanes} lanes the same")


if __name__ == "__main__":
    main()
