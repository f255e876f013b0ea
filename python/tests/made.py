"""Usage for the tests of the package."""

import math
import random

START = 1_700_006_400  # a midnight, UTC
DAYS = 12


def usage(jobs=4, days=DAYS, seed=1):
    """Returns rows of usage as columns: some jobs with a daily wave, noise, and holes."""
    draw = random.Random(seed)
    columns = {name: [] for name in ("time", "job", "task", "cpu_cores", "memory_bytes", "memory_limit")}
    for job in range(jobs):
        for task in range(1 + job % 2):
            for i in range(days * 288):
                if draw.random() < 0.02:
                    continue
                wave = 1 + 0.5 * math.sin(2 * math.pi * (i % 288) / 288)
                columns["time"].append(START + 300 * i)
                columns["job"].append(f"shop/web-{job}")
                columns["task"].append(task)
                columns["cpu_cores"].append(round(wave * draw.uniform(0.1, 0.3), 4))
                columns["memory_bytes"].append(float(int(wave * draw.uniform(2e8, 3e8))))
                columns["memory_limit"].append(float(1 << 30))
    return columns


def csv_of(columns, path):
    """Writes the columns as plain CSV and returns the path."""
    names = list(columns)
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join(names) + "\n")
        for row in zip(*columns.values()):
            file.write(",".join("" if v is None else repr(v) if isinstance(v, float) else str(v) for v in row) + "\n")
    return path
