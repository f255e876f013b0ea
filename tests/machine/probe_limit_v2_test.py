#!/usr/bin/env python3
"""Limits learnt from what tautlet's probe finds on cgroup v2: probe_limit_v2_test.py --tautd BIN --tautlet BIN

With TAUT_TEST_SCALE above 1 only: windows of five seconds and stalls of a slow virtual machine decide what it finds, so
that a busy host lets it fail."""
import argparse
import os
import sys

import machine

if float(os.environ.get("TAUT_TEST_SCALE", "1")) <= 1:
    print("SKIPPED: TAUT_TEST_SCALE is not above 1: limits learnt from the probe were not tried in a virtual machine")
    sys.exit(77)

parser = argparse.ArgumentParser(description=__doc__)
for program in ("tautd", "tautlet"):
    parser.add_argument(f"--{program}", required=True, help="its path")
machine.run_script("limits of the probe", "probe_limit_v2.sh", list(vars(parser.parse_args()).values()), seconds=500)
