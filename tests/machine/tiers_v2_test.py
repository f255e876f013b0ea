"""tautlet's tiers on a kernel with cgroup v2."""
import machine


def test_tiers_on_cgroup_v2(args):
    machine.passes_script("tiers_v2.sh", [args.tautlet, args.load], seconds=400)
