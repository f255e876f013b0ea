"""Creates cgroups (v1 or v2) on this machine and runs processes in them. Removes both when the program ends."""
import atexit
import ctypes
import os
import pathlib
import signal
import subprocess
import time

ROOT = pathlib.Path("/sys/fs/cgroup")
PR_SET_PDEATHSIG = 1
LIBC = ctypes.CDLL(None, use_errno=True)


class Unavailable(Exception):
    """The reason why this machine permits no cgroups."""


def hierarchies():
    """Returns {"memory": path, "cpu": path, ...} of v1, or {"unified": path} if v2 has the controllers."""
    v2 = ROOT / "cgroup.controllers"
    if v2.exists() and {"cpu", "memory"} <= set(v2.read_text().split()):
        return {"unified": ROOT}
    v1 = {name: ROOT / name for name in ("memory", "cpu", "cpuacct") if (ROOT / name / "cgroup.procs").exists()}
    if {"memory", "cpu"} <= set(v1):
        extra = ROOT / "unified"
        return {**v1, **({"unified": extra} if (extra / "cgroup.procs").exists() else {})}
    raise Unavailable("neither cgroup v2 nor v1 offers memory and cpu here")


class Group:
    """A cgroup below the tree's cgroup. Properties read and write its kernel files in either version."""

    def __init__(self, tree, name):
        self.tree, self.name = tree, name
        self.path = f"/{tree.name}/{name}"
        self.v2 = tree.v2
        for h in tree.hierarchies.values():
            (h / tree.name / name).mkdir()

    def dir(self, controller):
        h = self.tree.hierarchies
        return h["unified" if self.v2 else controller] / self.tree.name / self.name

    def _read(self, controller, file):
        return (self.dir(controller) / file).read_text()

    def _write(self, controller, file, text):
        (self.dir(controller) / file).write_text(str(text))

    @property
    def memory_limit(self):
        """Memory limit in bytes; None: no limit."""
        text = self._read("memory", "memory.max" if self.v2 else "memory.limit_in_bytes").strip()
        return None if text == "max" or int(text) > 1 << 60 else int(text)

    @memory_limit.setter
    def memory_limit(self, value):
        none = "max" if self.v2 else -1
        self._write("memory", "memory.max" if self.v2 else "memory.limit_in_bytes", none if value is None else value)

    @property
    def memory_used(self):
        return int(self._read("memory", "memory.current" if self.v2 else "memory.usage_in_bytes"))

    @property
    def cpu_limit(self):
        """CPU limit in cores; None: no limit."""
        if self.v2:
            quota, period = self._read("cpu", "cpu.max").split()
            return None if quota == "max" else int(quota) / int(period)
        quota = int(self._read("cpu", "cpu.cfs_quota_us"))
        return None if quota < 0 else quota / int(self._read("cpu", "cpu.cfs_period_us"))

    @cpu_limit.setter
    def cpu_limit(self, cores):
        if self.v2:
            self._write("cpu", "cpu.max", "max" if cores is None else f"{round(cores * 100000)} 100000")
        else:
            self._write("cpu", "cpu.cfs_quota_us", -1 if cores is None else round(cores * 100000))

    @property
    def cpu_weight(self):
        return int(self._read("cpu", "cpu.weight" if self.v2 else "cpu.shares"))

    @property
    def throttling(self):
        """(number of CFS periods, number of throttled periods) so far."""
        stat = dict(line.split() for line in self._read("cpu", "cpu.stat").splitlines())
        return int(stat["nr_periods"]), int(stat["nr_throttled"])

    @property
    def oom_kills(self):
        if self.v2:
            return int(dict(x.split() for x in self._read("memory", "memory.events").splitlines())["oom_kill"])
        return int(dict(x.split() for x in self._read("memory", "memory.oom_control").splitlines())["oom_kill"])

    def run(self, *argv, output=subprocess.DEVNULL):
        """Starts a process in the group and returns its Popen. The process is killed when its parent ends."""
        files = [str(h / self.tree.name / self.name / "cgroup.procs") for h in self.tree.hierarchies.values()]

        def enter():
            LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            for file in files:
                with open(file, "w") as procs:
                    procs.write(str(os.getpid()))

        return subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                                preexec_fn=enter)

    def kill(self):
        for _ in range(100):
            pids = self._read("memory", "cgroup.procs").split()
            if not pids:
                return
            for pid in pids:
                try:
                    os.kill(int(pid), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            time.sleep(0.02)

    def remove(self):
        """Kills all processes in the group and removes the group."""
        for h in self.tree.hierarchies.values():
            folder = h / self.tree.name / self.name
            for _ in range(100):
                try:
                    pids = (folder / "cgroup.procs").read_text().split()
                    for pid in pids:
                        os.kill(int(pid), signal.SIGKILL)
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except (OSError, ProcessLookupError):
                    time.sleep(0.02)
        self.tree.groups.pop(self.name, None)


class Tree:
    """Cgroups of one test or demonstration: /NAME/... in each hierarchy."""

    def __init__(self, name):
        if os.geteuid() != 0:
            raise Unavailable("only root can make cgroups here")
        self.name = name
        self.hierarchies = hierarchies()
        self.v2 = set(self.hierarchies) == {"unified"}
        self.groups = {}
        atexit.register(self.remove)
        try:
            for h in self.hierarchies.values():
                (h / name).mkdir(exist_ok=True)  # another program may have created this cgroup
            if self.v2:
                (ROOT / "cgroup.subtree_control").write_text("+cpu +memory")
                (ROOT / name / "cgroup.subtree_control").write_text("+cpu +memory")
        except OSError as error:
            self.remove()
            raise Unavailable(f"cannot make a cgroup: {error}") from error

    def group(self, name):
        self.groups[name] = Group(self, name)
        return self.groups[name]

    def remove(self):
        for group in list(self.groups.values()):
            group.remove()
        for h in self.hierarchies.values():
            try:
                (h / self.name).rmdir()
            except OSError:
                pass
