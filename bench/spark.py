#!/usr/bin/env python3
"""Compares a replay on Spark with `taut replay` in one process, on a generated month: seconds, and whether the bytes are equal.

    build/spark-tools/bin/python3 bench/spark.py                     # 20,000 jobs, 31 days, 2 workers; 30 minutes on 2 cores
    build/spark-tools/bin/python3 bench/spark.py --jobs 1000         # 2 minutes

Needs the environment of ./dev test slow. The trace and the packed job-days are kept in --folder for the next run.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).parent.parent


def timed(name, call):
    began = time.time()
    result = call()
    seconds = time.time() - began
    print(f"{name}: {seconds:.0f} s", flush=True)
    return result, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/taut-spark-bench"))
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--days", type=int, default=31)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--recommenders", default="peak,combined")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    sys.path.insert(0, str(args.build / "python"))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    taut = args.build / "bin/taut"
    name = f"{args.jobs}-{args.days}"
    trace = args.folder / f"{name}.csv.gz"
    if not trace.exists():
        command = [taut, "trace", "generate", f"--jobs={args.jobs}", f"--days={args.days}", "--", trace]
        timed("generate", lambda: subprocess.run(command, check=True))
    command = [taut, "replay", trace, "--recommender", args.recommenders, "--threads", str(args.workers), "--quiet", "-o", "json"]
    alone, alone_s = timed(f"taut replay, {args.workers} threads", lambda: subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)

    from pyspark.sql import SparkSession  # pylint: disable=import-outside-toplevel

    from tautline import spark  # pylint: disable=import-outside-toplevel

    session, _ = timed("Spark starts", SparkSession.builder.master(f"local-cluster[{args.workers},1,1024]").config(
        "spark.ui.enabled", "false").config("spark.executorEnv.PYTHONPATH", str(args.build / "python")).getOrCreate)
    session.sparkContext.setLogLevel("ERROR")
    packed = args.folder / f"{name}.parquet"
    pack_s = 0.0
    if not (packed / "_SUCCESS").exists():
        _, pack_s = timed("job_days", lambda: spark.job_days(str(trace), session, format="csv").write.mode("overwrite").parquet(str(packed)))
    print(f"packed job-days: {sum(file.stat().st_size for file in packed.iterdir()) / 2**20:.0f} MiB; trace {trace.stat().st_size / 2**20:.0f} MiB")
    days = session.read.parquet(str(packed))
    result, spark_s = timed(f"spark.replay, {args.workers} workers", lambda: spark.replay(days, args.recommenders.split(","), workers=args.workers))
    session.stop()
    print(f"{'equal' if result.json().encode() == alone else 'DIFFERENT'} documents")
    print(f"replay of packed job-days against taut replay: {spark_s / alone_s:.2f}; with packing {(spark_s + pack_s) / alone_s:.2f}")


if __name__ == "__main__":
    main()
