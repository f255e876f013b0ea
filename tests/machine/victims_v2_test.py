"""Victims when memory ends, on a kernel with cgroup v2."""
import machine


def test_victims_on_cgroup_v2(args):
    machine.passes_script("victims_v2.sh", [args.tautlet, args.load], seconds=400)
