// Fuzzes the data that the parts of a replay or an analysis exchange: packs of job-days, shares for the fleet
// models, and sums. The bytes are either rejected, or yield usable days, shares and results.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "common/base/bytes.h"
#include "tools/sim/analysis_sums.h"
#include "tools/sim/lane_scores.h"
#include "tools/sim/replay.h"
#include "tools/trace/job_packs.h"

namespace taut::tools {
namespace {

void Unpack(std::string_view bytes) {
  JobDayStore store({.memory_budget_bytes = size_t{64} << 20});
  store.OnJob(JobId{0}, JobInfo{.name = "a", .logical_name = "", .sensitivity = {}, .priority = {}});
  const bool good = UnpackJobDay(bytes, JobId{0}, 3, store).ok();
  if (!store.Finish().ok()) std::abort();
  for (const int32_t day : store.days()) {
    const auto jobs = store.LoadDay(day);
    if (!good || !jobs.ok() || jobs->size() > 1) std::abort();
  }
}

// Packs the bytes as rows, most of which are impossible, and unpacks the pack.
void UnpackRows(std::string_view bytes) {
  DayRows rows;
  rows.rows.resize(std::min<size_t>(bytes.size() / sizeof(RowRecord), 100));
  if (!rows.rows.empty())
    std::memcpy(static_cast<void*>(rows.rows.data()), bytes.data(), rows.rows.size() * sizeof(RowRecord));
  size_t shares = 0;
  for (RowRecord& row : rows.rows) {
    row.num_shares %= 4;
    shares += row.num_shares;
  }
  rows.shares.assign(shares, {.bucket = static_cast<uint16_t>(bytes.size() % 600), .share_minus_1 = 9});
  std::string pack;
  ByteWriter out(&pack);
  out.Put(uint8_t{1});
  for (const uint64_t count : {rows.rows.size(), shares, size_t{0}}) out.PutVarint(count);
  Unpack(pack + Compress(rows));
}

ReplayOptions Options() {
  ReplayOptions options;
  options.policies = {brain::PolicyPair(brain::Policy::kCombined)};
  options.settings.analogs.max_rows = 100;
  options.settings.analogs.solver_jobs = 10;
  return options;
}

void Merge(std::string_view bytes) {
  const ReplayOptions options = Options();
  const std::string part(bytes);
  if (const auto shares = MergeShares(options, 3, {part}); shares.ok()) {
    if (!MergeShares(options, 3, {SaveShares(*shares), part}).ok()) std::abort();
  }
  if (const auto result = MergeParts(options, {part}); result.ok()) {
    for (const LaneResult& lane : result->lanes) LaneScores(lane, result->first_scored_day);
  }
}

// Reads sizes of more jobs than are kept.
void Sample(std::string_view bytes) {
  JobSizes sizes(16);
  ByteReader in(bytes);
  if (!sizes.Load(in)) return;
  for (const Resource r : kResources) {
    const SortedValues sorted = sizes.SortedOf(r);
    if (sizes.DistributionOf(r, sorted).jobs != sizes.jobs()) std::abort();
    if (TailOf(sorted, 50).size() > 50) std::abort();
  }
}

// Merges loaded sums with themselves.
void MergeAnalyses(std::string_view bytes) {
  ByteReader in(bytes);
  AnalysisSums sums;
  if (!sums.Load(in).ok()) return;
  (void)sums.Result();
  const AnalysisSums other = sums;
  sums.Merge(other);
  (void)sums.Result();
  std::string merged;
  ByteWriter out(&merged);
  sums.Save(out);
}

}  // namespace
}  // namespace taut::tools

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  taut::tools::Unpack(bytes);
  taut::tools::UnpackRows(bytes);
  taut::tools::Merge(bytes);
  taut::tools::Sample(bytes);
  taut::tools::MergeAnalyses(bytes);
  return 0;
}
