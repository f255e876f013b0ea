"""The cgroup drivers under a real systemd."""
import machine


def test_the_hands_under_systemd(args):
    machine.passes_tests(args.tests, "KernelSystemd.*", systemd=True, seconds=400)
