#!/usr/bin/python3
"""A recommender of your own for tautd, in Python: the highest usage of the last hours plus a margin.

It is asked after each window of five minutes with the jobs whose setting `external` is true:

    external_recommender.py --listen 127.0.0.1:7073

    # tautd.yaml
    external_recommender:
      address: 127.0.0.1:7073
    rules:
      - match: {job: "shop/*"}
        set: {external: true}

Needs gRPC for Python and the protobuf compiler: apt install python3-grpcio python3-protobuf protobuf-compiler.
docs/develop/external_recommender.md describes the protocol.
"""
import argparse
import collections
import importlib
import math
import os
import subprocess
import sys
import tempfile
from concurrent import futures

import grpc

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "proto", "recommender.proto")
SERVICE = "taut.recommender.v1.Recommender"


def load_messages(proto):
    """The module that protoc makes of the .proto file."""
    out = tempfile.mkdtemp(prefix="recommender-")
    subprocess.run(["protoc", f"--proto_path={os.path.dirname(proto)}", f"--python_out={out}", proto], check=True)
    sys.path.insert(0, out)
    return importlib.import_module("recommender_pb2")


class PeakOfHours:
    """Memory: the highest peak of the last `windows`; CPU: the highest mean. Both times 1 + `margin`.

    Replicas: as many tasks as keep the highest load of the last hour at `target` of what they can process, and with
    `signal` at least one for each `per_task` of this named signal.
    """

    def __init__(self, messages, windows, margin, target, signal=None, per_task=1.0):
        self.messages = messages
        self.margin = margin
        self.target = target
        self.signal = signal
        self.per_task = per_task
        self.past = collections.defaultdict(lambda: collections.deque(maxlen=windows))

    def recommend(self, job):
        tasks = job.tasks
        memory = max((t.memory_peak_bytes for t in tasks if t.HasField("memory_peak_bytes")), default=None)
        cpu = max((t.cpu_mean_cores for t in tasks if t.HasField("cpu_mean_cores")), default=None)
        load = job.replicas.load if job.replicas.HasField("load") else None
        # A signal without a value was not measured, which is not 0.
        signal = next((s.value for s in job.signals if s.name == self.signal and s.HasField("value")), None)
        past = self.past[job.name]
        past.append((memory, cpu, load, signal))
        answer = self.messages.Recommendation(job=job.name)
        peak = max((m for m, _, _, _ in past if m is not None), default=None)
        if peak:
            answer.memory_limit_bytes = peak * (1 + self.margin)
        busiest = max((c for _, c, _, _ in past if c is not None), default=None)
        if busiest:
            answer.cpu_limit_cores = busiest * (1 + self.margin)
        if job.HasField("replicas"):
            hour = list(past)[-12:]
            counts = [math.ceil(s / self.per_task) for _, _, _, s in hour if s is not None]
            if job.replicas.HasField("task_capacity"):
                a_task = self.target * job.replicas.task_capacity
                counts += [math.ceil(load / a_task) for _, _, load, _ in hour if load is not None]
            if counts:
                answer.replicas = max(1, *counts)
        answer.reason = f"the highest usage of the last {len(past)} windows and {100 * self.margin:.0f} %"
        return answer

    def Recommend(self, request, context):
        return self.messages.RecommendResponse(recommendations=[self.recommend(job) for job in request.jobs])


def serve(recommender, messages, listen):
    handler = grpc.method_handlers_generic_handler(
        SERVICE,
        {
            "Recommend": grpc.unary_unary_rpc_method_handler(
                recommender.Recommend,
                request_deserializer=messages.RecommendRequest.FromString,
                response_serializer=messages.RecommendResponse.SerializeToString,
            )
        },
    )
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=1))  # windows come one after the other
    server.add_generic_rpc_handlers((handler,))
    port = server.add_insecure_port(listen)
    server.start()
    print(f"listening on port {port}", flush=True)
    return server


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--listen", default="127.0.0.1:7073", help="ADDRESS:PORT (default %(default)s)")
    parser.add_argument("--windows", type=int, default=72, help="of five minutes that are remembered (%(default)s)")
    parser.add_argument("--margin", type=float, default=0.2, help="above the highest usage (%(default)s)")
    parser.add_argument("--target", type=float, default=0.6, help="utilisation of the tasks (%(default)s)")
    parser.add_argument("--signal", help="a named signal that asks for tasks too, such as queue_length")
    parser.add_argument("--per-task", type=float, default=1.0, help="of --signal that one task handles (%(default)s)")
    args = parser.parse_args()
    if not 0 < args.per_task < math.inf:
        parser.error(f"invalid --per-task {args.per_task}: expected a number above 0")
    messages = load_messages(PROTO)
    recommender = PeakOfHours(messages, args.windows, args.margin, args.target, args.signal, args.per_task)
    serve(recommender, messages, args.listen).wait_for_termination()


if __name__ == "__main__":
    main()
