"""The commands of ``taut`` as functions. python/stubs.py writes their types for editors (commands.pyi)."""

from ._verbs import Verb

tune = Verb("tune", "tune", "Sweeps settings over a trace and marks the cheapest ones.", "trials", "table")
overcommit = Verb("overcommit", "overcommit", "Predicts the usage peaks of machines and compares them with what came.",
                  "resources.predictors", "table")
replicas = Verb("replicas", "replay", "Replays load (or with usage=True the CPU usage of jobs) through the replica policies.",
                "policies", "usage", ["replicas"])
compact = Verb("compact", "compact", "Computes how many machines the workload of a cell needs.", "experiments", "usage")
analyze = Verb("analyze", "analyze", "Analyses a trace: inequality, tiers, slack, delays, shapes.", "tiers", "table")
bill = Verb("bill", "get bills", "Bills the usage of a trace by a price file. Amounts of money are decimal texts.", "rows", "table")
economy = Verb("economy", "economy", "Runs a shared pool over a trace: sales, promises, bills.", "policies", "table")
simulate = Verb("simulate", "simulate", "Runs a cell over time: waits, preemptions, evictions, utilisation.", "runs", "")
