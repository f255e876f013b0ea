// Shares: sums and samples of some jobs' rows at the end of a day, from which the fleet models learn. Shares of
// parts of a fleet merge to the share of the whole fleet, with equal bytes in any order and for any division of
// the jobs.
#pragma once

#include <cstdint>
#include <span>

#include "brain/recommend/boosted_row.h"
#include "brain/recommend/distribution_forest.h"
#include "brain/recommend/fleet_row.h"
#include "brain/recommend/settings.h"
#include "common/base/bottom_k.h"
#include "common/base/order_free_sum.h"

namespace taut::brain {

// Writes the rows of a sample with their keys, ascending by key.
void SaveSample(BottomK<DistributionForest::Row> sample, ByteWriter& out);

// The share of the jobs whose recommender is analogs. Size: at most 2 max_rows lessons and 2 solver_jobs cases.
struct AnalogShare {
  AnalogShare(int32_t its_day, const AnalogSettings& settings)
      : day(its_day),
        sample(static_cast<size_t>(settings.max_rows)),
        panel(static_cast<size_t>(settings.solver_jobs)) {}

  // Adds a row without `work`.
  void Add(const FleetRow& row);
  // Adds the share of other jobs for the same day.
  void Merge(const AnalogShare& other);
  void Save(ByteWriter& out) const;
  bool Load(ByteReader& in);

  int32_t day;
  uint64_t jobs = 0;      // number of rows
  uint64_t lessons = 0;   // number of rows with a lesson
  uint64_t verdicts = 0;  // number of rows with a verdict
  uint64_t overruns = 0;  // number of verdicts with an overrun
  uint64_t warnings = 0, warnings_true = 0;
  OrderFreeSum limits;    // sum of owners' limits; week_peak for a job without an owner's limit
  OrderFreeSum promised;  // sum of FleetVerdict::promised over the verdicts
  BottomK<DistributionForest::Row> sample;  // sample of the lessons
  BottomK<AnalogCase> panel;                // sample of the jobs that have no target share of their own
};

// The share of the jobs whose recommender is the work function.
struct WorkShare {
  // Adds a row with `work`.
  void Add(const FleetWork& work);
  void Merge(const WorkShare& other);
  void Save(ByteWriter& out) const;
  bool Load(ByteReader& in);

  uint64_t jobs = 0;
  OrderFreeSum size;  // sum over all jobs
  OrderFreeSum over,
      used;  // sums over the jobs with enough history to change the price (FleetWork::seasoned)
};

// The share of the jobs whose recommender is the boosted one.
struct BoostedShare {
  BoostedShare(int32_t its_day, const BoostedSettings& settings)
      : day(its_day),
        sample(static_cast<size_t>(settings.max_lessons)),
        panel(static_cast<size_t>(settings.solver_jobs)) {}

  void Add(uint64_t job, const BoostedRow& row);
  void Merge(const BoostedShare& other);
  void Save(ByteWriter& out) const;
  bool Load(ByteReader& in);

  int32_t day;
  uint64_t jobs = 0, lessons = 0, verdicts = 0;
  OrderFreeSum sizes;                   // sum of BoostedRow::size
  OrderFreeSum promised, harm, weight;  // sums over the verdicts
  BottomK<BoostedLesson> sample;
  BottomK<BoostedCase> panel;  // sample of the jobs that have no target share of their own
};
// Returns the key by which lessons are drawn.
uint64_t BoostedLessonKey(uint64_t job, int32_t period);

// The share of one resource for all fleet models.
struct FleetShare {
  FleetShare(int32_t day, const AnalogSettings& settings, const BoostedSettings& boosting)
      : analogs(day, settings), boosted(day, boosting) {}
  void Add(std::span<const FleetRow> rows);
  void Merge(const FleetShare& other);
  void Save(ByteWriter& out) const;
  // Reads the bytes that Save wrote for a share of the same day and settings. Returns false for bytes that Save
  // cannot have written; the share is then unusable.
  bool Load(ByteReader& in);

  AnalogShare analogs;
  WorkShare works;
  BoostedShare boosted;
};

}  // namespace taut::brain
