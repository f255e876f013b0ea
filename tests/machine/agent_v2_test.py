#!/usr/bin/env python3
"""The whole agent on a kernel with cgroup v2: agent_v2_test.py --tautd BIN --tautlet BIN --load BIN"""
import argparse
import pathlib
import sys

import machine

parser = argparse.ArgumentParser(description=__doc__)
for program in ("tautd", "tautlet", "load"):
    parser.add_argument(f"--{program}", required=True, help="its path")
args = parser.parse_args()
script = pathlib.Path(__file__).resolve().with_suffix("").with_name("agent_v2.sh").read_text()
try:
    code, said = machine.run(script, [args.tautd, args.tautlet, args.load], seconds=500,
                             show=lambda line: print(line, flush=True))
except machine.Unavailable as why:
    print(f"SKIPPED: {why}; the agent was not tested on cgroup v2")
    sys.exit(machine.SKIPPED)
if code == 0 and "checked everything, 0 failed" not in said:
    code = 1
print(f"the agent on cgroup v2: exit code {code}")
sys.exit(code)
