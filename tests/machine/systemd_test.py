#!/usr/bin/env python3
"""The cgroup hands under a real systemd: systemd_test.py --tests build/release/bin/cgroup_tests"""
import argparse

import machine

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--tests", required=True, help="path of cgroup_tests")
machine.run_tests("systemd", parser.parse_args().tests, "KernelSystemd.*", systemd=True, seconds=400)
