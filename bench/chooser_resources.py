"""Properties of the resources for bench/chooser.py: candidates, the form of usage in a trace, the definition and daily amount of harm,
and the shares of harm and prices in the printed tables."""
import array
import collections
import csv
import gzip

WINDOW_S, WINDOWS_PER_DAY = 300, 288

# A job's day under one candidate: limit at the day's start, mean limit of all tasks, harm, mean number of tasks, and exposure, the
# amount of which harm is a part. For memory, harm is 0 or 1 and exposure is 1. For CPU, harm is the core-days above the limit and
# exposure is the used core-days.
Day = collections.namedtuple("Day", "start limit harm tasks exposure")


class Memory:
    """Memory: harm is a day on which the usage of a task was above the limit."""

    harm, shares, places = "OOM-days", (0.01, 0.02, 0.03, 0.05, 0.08), (0, 2)
    sets, every = ("analogs", "moving_window", "both"), "both"
    prices = [0.1 * 2**k * 2**30 for k in range(15)]  # bytes per OOM-day
    prior = 0.03
    orders = (0.01, 0.02, 0.03, 0.05, 0.08, 0.13)

    def candidates(self):
        """name -> (set, recommender, settings)"""
        found = {f"analogs, ordered {100 * share:g} %": ("analogs", "analogs", {"analogs.memory_oom_days": share})
                 for share in self.orders}
        for days, scale in [(2, 1), (3, 1), (4, 1), (5, 1), (7, 1), (10, 1), (14, 1), (28, 1),
                            (4, 0.5), (7, 0.5), (14, 0.5), (4, 2), (7, 2), (14, 2)]:
            found[f"peak of {days} days, margin x{scale:g}"] = (
                "moving_window", "moving_window", {"moving_window.peak_window": f"{days}d", "moving_window.margin_scale": scale,
                                                   "moving_window.oom_tolerance": "minimal"})
        return found

    def reader(self, head):
        """Returns a function row -> ("", usage). Tasks are not distinguished, because only the highest usage counts."""
        at, scale = (head.index("mem_kb"), 1024) if "mem_kb" in head else (head.index("memory_bytes"), 1)
        return lambda row: ("", scale * float(row[at]))

    def job_of(self, rows, windows, first, bitbrains):
        """Returns two lists by window: the highest usage of a task (< 0: not measured), and the number of tasks."""
        values, tasks = array.array("d", [-1]) * windows, array.array("H", [0]) * windows
        for window, usage in zip(*rows[""]):
            i = window - first
            values[i] = max(values[i], usage)
            # A second row of a Bitbrains window is a duplicate, not a second task.
            tasks[i] = 1 if bitbrains else tasks[i] + 1
        return values, tasks

    def day_of(self, job, changes, begin, at):
        """The Day that begins at window index `begin` (None: no usage), and the next change"""
        usage, tasks = job
        start, total, over, count, measured = None, 0.0, False, 0, 0
        limit = changes[at - 1][1] if at else None
        for i in range(begin, begin + WINDOWS_PER_DAY):
            while at < len(changes) and changes[at][0] <= i:
                limit = changes[at][1]
                at += 1
            if usage[i] < 0 or limit is None:
                continue
            start = limit if start is None else start
            total += limit * tasks[i]
            count += tasks[i]
            measured += 1
            over = over or usage[i] > limit
        return (None if start is None else Day(start, total / WINDOWS_PER_DAY, over, count / measured, 1)), at

    def frontier(self, points):
        return points


class Cpu:
    """CPU: harm is the work above the limit, which is throttled."""

    harm, shares, places = "throttled work", (0.0005, 0.001, 0.002, 0.003, 0.005), (2, 3)
    sets, every = ("work_function", "windows", "ensemble", "all"), "all"
    prices = [0.25 * 2 ** (k / 2) for k in range(40)]  # per core-day above the limit, in reserved core-days
    prior = 0.001
    orders = (0.0002, 0.0003, 0.0005, 0.001, 0.0015, 0.002, 0.003, 0.004, 0.005, 0.007, 0.01)

    def candidates(self):
        """name -> (set, recommender, settings)"""
        found = {f"work_function, ordered {100 * share:g} %": (
            "work_function", "work_function", {"work_function.cpu_throttled": share}) for share in self.orders}
        for days, margin in [(1, 0.15), (2, 0.15), (4, 0.15), (7, 0.15), (14, 0.15), (28, 0.15),
                             (1, 0), (4, 0), (14, 0), (1, 0.5), (4, 0.5), (14, 0.5)]:
            found[f"peak of {days} days + {100 * margin:g} %"] = (
                "windows", "peak", {"peak.window": f"{days}d", "peak.margin": margin})
        for job_class, statistic in (("batch", "average"), ("serving_tolerant", "p90"), ("serving", "p95")):
            for scale in (0.5, 1, 2):
                found[f"{statistic}, margin scale {scale:g}"] = (
                    "windows", "moving_window", {"moving_window.job_class": job_class,
                                                 "moving_window.margin_scale": scale})
        for price in (30, 100, 300, 1000, 3000):
            found[f"ensemble, w_over {price}"] = ("ensemble", "ensemble", {"ensemble.cpu_w_over": price})
        return found

    def reader(self, head):
        """Returns a function row -> (task, usage in cores)."""
        if "cpu_mhz" in head:
            cores, cap, used = (head.index(name) for name in ("cores", "cpu_cap_mhz", "cpu_mhz"))
            return lambda row: ("", float(row[cores]) * float(row[used]) / float(row[cap]))
        task, used = head.index("task"), head.index("cpu_cores")
        return lambda row: (row[task], float(row[used]))

    def job_of(self, rows, windows, first, bitbrains):
        """Returns two lists by window: the mean usage of each task (0 also for an unmeasured task), and the number of measured tasks."""
        usages, tasks = [], array.array("H", [0]) * windows
        for of_task in rows.values():
            total, rows_of = array.array("d", [0]) * windows, array.array("H", [0]) * windows
            for window, usage in zip(*of_task):
                i = window - first
                tasks[i] += rows_of[i] == 0
                total[i] += usage
                rows_of[i] += 1
            usages.append(array.array("d", (t / n if n else 0 for t, n in zip(total, rows_of))))
        return usages, tasks

    def day_of(self, job, changes, begin, at):
        """The Day that begins at window index `begin` (None: no usage), and the next change"""
        usages, tasks = job
        start, total, over, work, count, measured = None, 0.0, 0.0, 0.0, 0, 0
        limit = changes[at - 1][1] if at else None
        i, end = begin, begin + WINDOWS_PER_DAY
        while i < end:
            while at < len(changes) and changes[at][0] <= i:
                limit = changes[at][1]
                at += 1
            stop = min(end, changes[at][0]) if at < len(changes) else end
            present = tasks[i:stop]
            if limit is not None and any(present):
                start = limit if start is None else start
                total += limit * sum(present)
                count += sum(present)
                measured += len(present) - present.count(0)
                for values in usages:
                    part = values[i:stop]
                    work += sum(part)
                    if max(part) > limit:
                        over += sum(value - limit for value in part if value > limit)
            i = stop
        if start is None:
            return None, at
        return Day(start, total / WINDOWS_PER_DAY, over / WINDOWS_PER_DAY, count / measured, work / WINDOWS_PER_DAY), at

    def frontier(self, points):
        """Returns the rows for which no other row has a smaller footprint at no more harm. The windows and percentiles of one set lie on
    many curves."""
        return [(foot, over) for foot, over in points
                if not any(f < foot and o <= over or f <= foot and o < over for f, o in points)]


RESOURCES = {"memory": Memory(), "cpu": Cpu()}


class Usage:
    """Reads the usage of one resource by job, as the resource's job_of returns it, from the compact Bitbrains format and plain CSV."""

    def __init__(self, paths, resource):
        rows = {}  # job -> task -> the task's windows and usages, as read
        for path in paths:
            with gzip.open(path, "rt") as lines:
                reader = csv.reader(lines)
                head = next(reader)
                bitbrains = "mem_kb" in head
                job_at, time_at = (head.index(name) for name in (("vm", "ts_s") if bitbrains else ("job", "time")))
                read = resource.reader(head)
                for row in reader:
                    task, usage = read(row)
                    of_task = rows.setdefault(row[job_at], {})
                    windows, values = of_task.setdefault(task, (array.array("i"), array.array("d")))
                    windows.append(int(float(row[time_at])) // WINDOW_S)
                    values.append(usage)
        every = [windows for tasks in rows.values() for windows, _ in tasks.values()]
        first = min(min(windows) for windows in every) // WINDOWS_PER_DAY
        self.first_window = first * WINDOWS_PER_DAY
        self.days = max(max(windows) for windows in every) // WINDOWS_PER_DAY + 1 - first
        self.jobs = {job: resource.job_of(tasks, self.days * WINDOWS_PER_DAY, self.first_window, bitbrains)
                     for job, tasks in sorted(rows.items(), key=lambda item: (len(item[0]), item[0]))}
