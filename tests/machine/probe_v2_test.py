#!/usr/bin/env python3
"""tautlet's probe on a kernel with cgroup v2: probe_v2_test.py --tautlet BIN"""
import argparse

import machine

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tautlet", required=True, help="its path")
machine.run_script("the probe", "probe_v2.sh", [parser.parse_args().tautlet], seconds=120)
