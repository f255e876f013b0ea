#!/usr/bin/env python3
"""Who dies when memory ends, on a kernel with cgroup v2: victims_v2_test.py --tautlet BIN --load BIN"""
import argparse

import machine

parser = argparse.ArgumentParser(description=__doc__)
for program in ("tautlet", "load"):
    parser.add_argument(f"--{program}", required=True, help="its path")
machine.run_script("victims", "victims_v2.sh", list(vars(parser.parse_args()).values()), seconds=400)
