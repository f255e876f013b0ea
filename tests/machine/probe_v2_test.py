"""tautlet's probe on a kernel with cgroup v2."""
import machine


def test_the_probe_on_cgroup_v2(args):
    machine.passes_script("probe_v2.sh", [args.tautlet], seconds=120)
