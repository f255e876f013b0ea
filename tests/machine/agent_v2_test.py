"""The whole agent on a kernel with cgroup v2."""
import machine


def test_the_agent_on_cgroup_v2(args):
    machine.passes_script("agent_v2.sh", [args.tautd, args.tautlet, args.load], seconds=500)
