#include "tools/sim/compaction_runs.h"

#include <atomic>

#include "brain/cell/made_cell.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

brain::CellModel Made(uint32_t machines) {
  brain::MadeCellOptions made;
  made.machines = machines;
  return brain::MakeCell(made);
}

CompactionRunsOptions All(uint32_t trials) {
  CompactionRunsOptions options;
  for (const brain::CellExperiment& e : brain::CellExperiments()) options.experiments.push_back(&e);
  options.compaction.trials = trials;
  options.variant.large_user = 0.1;
  return options;
}

TEST(CompactionRuns, AreTheSameOnAnyNumberOfThreads) {
  const brain::CellModel cell = Made(60);
  CompactionRunsOptions options = All(3);
  options.threads = 1;
  const auto one = RunCompactions(cell, options);
  options.threads = 3;
  const auto three = RunCompactions(cell, options);
  ASSERT_TRUE(one.ok() && three.ok()) << one.status() << three.status();
  ASSERT_EQ(one->runs.size(), brain::CellExperiments().size());
  for (size_t i = 0; i < one->runs.size(); ++i) {
    EXPECT_EQ(one->runs[i].result.trials, three->runs[i].result.trials);
    EXPECT_EQ(one->runs[i].not_run, three->runs[i].not_run);
  }
  EXPECT_EQ(one->one_less, three->one_less);
  EXPECT_THAT(one->one_less, ::testing::HasSubstr("tasks are pending, the first of job"));
}

TEST(CompactionRuns, TheBaseIsThatOfCompactCellAndPartsAreSummed) {
  const brain::CellModel cell = Made(80);
  CompactionRunsOptions options = All(3);
  const auto runs = RunCompactions(cell, options);
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_EQ(runs->runs[0].result.trials, brain::CompactCell(cell, options.compaction)->trials);
  for (const CompactionRun& run : runs->runs) {
    if (run.experiment->name != "segregate") continue;
    const brain::CellVariant two = *run.experiment->make(cell, options.variant);
    const auto a = brain::CompactCell(two.parts[0], options.compaction);
    const auto b = brain::CompactCell(two.parts[1], options.compaction);
    for (size_t t = 0; t < 3; ++t) EXPECT_EQ(run.result.trials[t], a->trials[t] + b->trials[t]);
    EXPECT_EQ(run.cells, 2U);
  }
}

TEST(CompactionRuns, WhatDoesNotApplyIsSaidAndTheRestIsRun) {
  brain::CellModel cell = Made(60);
  for (brain::CellJob& job : cell.jobs) job.reservation = job.limit;
  const auto runs = RunCompactions(cell, All(1));
  ASSERT_TRUE(runs.ok()) << runs.status();
  for (const CompactionRun& run : runs->runs)
    EXPECT_EQ(run.not_run, run.experiment->name == "no-reclamation" ? "every reservation is the limit" : "");
}

TEST(CompactionRuns, StopsWhenAsked) {
  std::atomic<int> asked = 0;
  CompactionRunsHooks hooks;
  hooks.should_stop = [&] { return ++asked > 3; };
  double share = 0;
  hooks.on_progress = [&](std::string_view, double s) {
    EXPECT_GE(s, share);
    share = s;
  };
  CompactionRunsOptions options = All(2);
  options.threads = 1;
  const auto runs = RunCompactions(Made(60), options, hooks);
  ASSERT_TRUE(runs.ok()) << runs.status();
  EXPECT_TRUE(runs->partial);
  EXPECT_EQ(runs->runs.size(), 1U);
  EXPECT_GT(share, 0);
}

}  // namespace
}  // namespace taut::tools
