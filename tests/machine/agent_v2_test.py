#!/usr/bin/env python3
"""The whole agent on a kernel with cgroup v2: agent_v2_test.py --tautd BIN --tautlet BIN --load BIN"""
import argparse

import machine

parser = argparse.ArgumentParser(description=__doc__)
for program in ("tautd", "tautlet", "load"):
    parser.add_argument(f"--{program}", required=True, help="its path")
machine.run_script("the agent", "agent_v2.sh", list(vars(parser.parse_args()).values()), seconds=500)
