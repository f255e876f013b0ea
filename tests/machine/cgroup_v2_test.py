"""The cgroup drivers on a kernel with cgroup v2."""
import machine


def test_the_hands_on_cgroup_v2(args):
    machine.passes_tests(args.tests, "KernelCgroup.*:KernelFinder.*",
                         may_skip=["KernelCgroup.KeepsTheOwnersAllowanceOfSwap"])  # of v1 alone
