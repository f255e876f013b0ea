"""Reads the stream of events of a tautd, for the latency benchmarks."""
import http.client
import json
import threading
import time


class Decisions(threading.Thread):
    """Records, by resource, the time of the first decision in the stream of events since `heard` was cleared."""

    def __init__(self, port):
        super().__init__(daemon=True)
        self.heard = {}
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/api/v1/events")
        self.stream = connection.getresponse()
        self.start()

    def run(self):
        event = b""
        while line := self.stream.readline():
            at = time.perf_counter()
            if line.startswith(b"event:"):
                event = line[6:].strip()
            elif line.startswith(b"data:") and event == b"decision":
                self.heard.setdefault(json.loads(line[5:])["resource"], at)
