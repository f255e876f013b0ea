#!/usr/bin/env python3
"""Replays a trace that is larger than memory from a stream of Arrow batches, and prints the time and the peak of memory.

Usage: large_trace.py MONTH.csv[.gz] MONTH.parquet [--copies N] [--recommender LIST] (with tautline and pyarrow installed)

MONTH.csv is a trace in plain CSV, for instance of `taut trace generate`. It is converted once. The stream has all rows of
MONTH.parquet once per copy; each copy has its own job names and its own scale of usage.
"""
import argparse
import os
import resource
import time

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq

SCHEMA = pa.schema([("time", pa.int64()), ("job", pa.string()), ("task", pa.int32()), ("cpu_cores", pa.float64()),
                    ("memory_bytes", pa.float64()), ("cpu_limit", pa.float64()), ("memory_limit", pa.float64())])
AMOUNTS = [name for name in SCHEMA.names if name not in ("time", "job", "task")]


def convert(month, path):
    types = pa.csv.ConvertOptions(column_types=SCHEMA)
    with pq.ParquetWriter(path + ".part", SCHEMA, compression="zstd") as writer:
        for batch in pa.csv.open_csv(month, pa.csv.ReadOptions(block_size=16 << 20), convert_options=types):
            writer.write_batch(batch.select(SCHEMA.names))
    os.rename(path + ".part", path)


def copies_of(month, copies):
    for copy in range(copies):
        for batch in month.to_batches(batch_readahead=2, fragment_readahead=1):
            columns = {name: batch.column(name) for name in SCHEMA.names}
            names = columns["job"].dictionary_encode()
            columns["job"] = pc.binary_join_element_wise(names.dictionary, f"{copy:02}", "-").take(names.indices)
            for name in AMOUNTS:
                columns[name] = pc.multiply(columns[name], 1 + copy / 16)
            yield pa.record_batch(list(columns.values()), schema=SCHEMA)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("month")
    parser.add_argument("parquet")
    parser.add_argument("--copies", type=int, default=12)
    parser.add_argument("--recommender", default="peak")
    parser.add_argument("--spill-memory", default="2GiB")
    args = parser.parse_args()
    if not os.path.exists(args.parquet):
        convert(args.month, args.parquet)
    month = pyarrow.dataset.dataset(args.parquet, format="parquet")
    print(f"{args.copies} x {month.count_rows()} rows, {os.path.getsize(args.parquet) / 1e9:.2f} GB of Parquet a copy", flush=True)
    import tautline

    began = time.perf_counter()
    usage = pa.RecordBatchReader.from_batches(SCHEMA, copies_of(month, args.copies))
    result = tautline.replay(usage, args.recommender.split(","), warmup="10d", spill_memory=args.spill_memory)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(f"replayed in {time.perf_counter() - began:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of CPU, "
          f"peak memory {used.ru_maxrss / (1 << 20):.2f} GiB")
    print(result.input)
    print(result.table)


if __name__ == "__main__":
    main()
