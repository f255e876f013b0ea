"""A Prometheus for one test with fourteen days of containers: the history of a first day, from which limits are decided at once."""
import http.server
import json
import re
import threading
import time
import urllib.parse

import daemon

DAYS = 14
STEP, WINDOW = 60, 300  # seconds: between samples, and of a window
MIB = 1 << 20


class Handler(daemon.JsonHandler):
    history = None

    def do_POST(self):
        form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if self.path == "/api/v1/series":  # names say who owns the pods
            return self.answer(200, '{"status":"success","data":[]}')
        query = form["query"][0]
        if query.startswith("vector(time())"):
            found = [({}, [(int(time.time()), 1)])]
        else:
            end, length = int(float(form["time"][0])), int(re.search(r"\[(\d+)s\]", query).group(1))
            found = self.history.series(query, end - length, end)
        result = [{"metric": labels, "values": [[t, str(v)] for t, v in values]} for labels, values in found]
        self.answer(200, json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}))


class History:
    """`usage`: (cores, MiB) of containers, by (pod, container) of the namespace default. Each has this usage on all of the fourteen days,
    and a quarter more in one minute of each hour."""

    def __init__(self, usage):
        self.usage, self.end = usage, int(time.time()) // WINDOW * WINDOW - STEP  # what runs now has windows of its own
        handler = type("HistoryHandler", (Handler,), {"history": self})
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def series(self, query, after, until):
        """Returns the series of the query's metric, with times in (after, until]."""
        times = range(max(after, self.end - DAYS * 86400) // STEP * STEP + STEP, min(until, self.end) + 1, STEP)
        out = []
        for (pod, container), (cores, mib) in self.usage.items():
            labels = {"namespace": "default", "pod": pod, "container": container}
            if "container_cpu_usage_seconds_total" in query and times:
                out.append(({"__name__": "container_cpu_usage_seconds_total", **labels}, [(t, round(cores * (t % 10**8), 3)) for t in times]))
            if "container_memory_working_set_bytes" in query and times:
                out.append(({"__name__": "container_memory_working_set_bytes", **labels},
                            [(t, round(mib * MIB * (1.25 if t % 3600 == 0 else 1))) for t in times]))
        return out
