"""Limits learnt from the results of tautlet's probe on cgroup v2.

Runs only with TAUT_TEST_SCALE above 1: windows of five seconds and stalls of a slow virtual machine affect the result, so
it may fail on a busy host."""
import os

import pytest

import machine


@pytest.mark.skipif(float(os.environ.get("TAUT_TEST_SCALE", "1")) <= 1, reason="TAUT_TEST_SCALE is not above 1")
def test_limits_are_learnt_from_the_probe(args):
    machine.passes_script("probe_limit_v2.sh", [args.tautd, args.tautlet], seconds=500)
