#!/usr/bin/env python3
"""The cgroup hands on a kernel with cgroup v2: cgroup_v2_test.py --tests build/release/bin/cgroup_tests"""
import argparse

import machine

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tests", required=True, help="path of cgroup_tests")
machine.run_tests("cgroup v2", parser.parse_args().tests, "KernelCgroup.*:KernelFinder.*",
                  may_skip=["KernelCgroup.KeepsTheOwnersAllowanceOfSwap"])  # of v1 alone
