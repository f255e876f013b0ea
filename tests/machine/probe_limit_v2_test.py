#!/usr/bin/env python3
"""Limits learnt from what tautlet's probe finds on cgroup v2: probe_limit_v2_test.py --tautd BIN --tautlet BIN"""
import argparse

import machine

parser = argparse.ArgumentParser(description=__doc__)
for program in ("tautd", "tautlet"):
    parser.add_argument(f"--{program}", required=True, help="its path")
machine.run_script("limits of the probe", "probe_limit_v2.sh", list(vars(parser.parse_args()).values()), seconds=500)
