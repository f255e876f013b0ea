#!/usr/bin/env python3
"""tautlet's probe on a kernel with cgroup v2: probe_v2_test.py --tautlet BIN"""
import argparse
import pathlib
import sys

import machine

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tautlet", required=True, help="its path")
args = parser.parse_args()
script = pathlib.Path(__file__).resolve().with_suffix("").with_name("probe_v2.sh").read_text()
try:
    code, said = machine.run(script, [args.tautlet], seconds=120, show=lambda line: print(line, flush=True))
except machine.Unavailable as why:
    print(f"SKIPPED: {why}; the probe was not tested on cgroup v2")
    sys.exit(machine.SKIPPED)
if code == 0 and "checked everything, 0 failed" not in said:
    code = 1
print(f"the probe on cgroup v2: exit code {code}")
sys.exit(code)
