#!/usr/bin/env python3
"""tautlet's tiers on a kernel with cgroup v2: tiers_v2_test.py --tautlet BIN --load BIN"""
import argparse
import pathlib
import sys

import machine

parser = argparse.ArgumentParser(description=__doc__)
for program in ("tautlet", "load"):
    parser.add_argument(f"--{program}", required=True, help="its path")
args = parser.parse_args()
script = pathlib.Path(__file__).resolve().with_suffix("").with_name("tiers_v2.sh").read_text()
try:
    code, said = machine.run(script, [args.tautlet, args.load], seconds=400, show=lambda line: print(line, flush=True))
except machine.Unavailable as why:
    print(f"SKIPPED: {why}; tiers were not tested on cgroup v2")
    sys.exit(machine.SKIPPED)
if code == 0 and "checked everything, 0 failed" not in said:
    code = 1
print(f"tiers on cgroup v2: exit code {code}")
sys.exit(code)
