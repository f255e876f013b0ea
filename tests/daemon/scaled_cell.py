"""A cell for tests of the number of tasks: two workloads with the usage, served requests and reported replicas that the test sets."""
import daemon

START = 1_700_006_400  # a midnight
WINDOW = 300
LETTERS = "bcdfghjklmnpqrstvwxz"


class Cell:
    """Two workloads of containers with a limit of one core each."""

    def __init__(self, step=30):
        self.step = step  # seconds between two samples
        self.second = 0
        self.cpu = {}
        self.requests = {}

    def send(self, tautd, windows, tasks, cores_each, requests_each=0, said=None):
        """Sends the usage of all tasks of web, and the requests per second that they serve; db has two tasks. said: number of web's running
        and ready tasks, as kube-state-metrics reports it."""
        for _ in range(windows * WINDOW // self.step):
            series = []
            if said is not None:
                for workload in ("web", "unmeasured"):
                    for metric, value in zip(("replicas", "replicas_ready"), said):
                        labels = {"__name__": f"kube_deployment_status_{metric}", "deployment": workload, "namespace": "shop"}
                        series.append((labels, [(START + self.second, value)]))
            for name, count, cores in (("web", tasks, cores_each), ("db", 2, 0.9)):
                for task in range(count):
                    pod = f"{name}-5d4f8c7b9d-x{LETTERS[task]}{LETTERS[task]}{LETTERS[task]}z"
                    self.cpu[pod] = self.cpu.get(pod, 0) + cores * self.step
                    labels = {"namespace": "shop", "pod": pod, "container": "app"}
                    at = START + self.second
                    for metric, value, more in (("container_cpu_usage_seconds_total", self.cpu[pod], {"cpu": "total"}),
                                                ("container_memory_working_set_bytes", 2e8, {}),
                                                ("container_spec_cpu_quota", 100_000, {}),
                                                ("container_spec_memory_limit_bytes", 1e9, {})):
                        series.append(({"__name__": metric, **more, **labels}, [(at, value)]))
                    self.requests[pod] = self.requests.get(pod, 0) + requests_each * self.step
                    if requests_each > 0 and name == "web":
                        series.append(({"__name__": "http_requests_total", **labels}, [(at, self.requests[pod])]))
            answer = daemon.write(tautd.port, daemon.write_body(series))
            assert answer.status == 204, f"second {self.second} is taken: {answer.text}"
            self.second += self.step
        end = START + (self.second - self.step) // WINDOW * WINDOW
        assert daemon.eventually(lambda: (tautd.get("/api/v1/fleet")["time"] or 0) >= end, 20), f"windows up to {end - START} s are closed"
