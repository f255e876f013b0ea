// Jobs that appeared after the cell did, and what a source of history has of the time before.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "common/model/allocation.h"
#include "common/model/resource.h"
#include "server/ingest/ingest.h"
#include "server/store/store.h"

namespace taut::server {

struct LateJob {
  JobId id;
  std::string name;
  WindowId until;  // what is missing is before this one
  PerResource<Allocation> allocation = {};
};

struct LateJobCounts {
  uint64_t waiting = 0, read = 0, nothing = 0;
};

// Owners and other facts that series of the past say, kept small.
class PastFacts {
 public:
  // As said at `time`.
  explicit PastFacts(Timestamp time) : time_(time) {}
  void Add(std::span<const LabelView> labels);
  // After the last Add.
  void Finish();
  absl::Status GiveTo(Ingest& ingest) const;

 private:
  const Timestamp time_;
  std::vector<std::vector<std::pair<std::string, std::string>>> pending_;
  std::vector<std::string> bodies_;
};

// The past of some jobs: series of a source of history in, days out. The mapping rules are those of live
// samples, but all is apart from these: no job comes of it, and nothing else is kept. One object, one thread.
class PastFold {
 public:
  // OOM kills are not learnt, and nothing is claimed by agents. Windows before `from` do not count.
  PastFold(const MappingRules& rules, const Ingest::Options& options, WindowId from,
           std::span<const LateJob> wanted);

  absl::Status TakeFacts(const PastFacts& facts) { return facts.GiveTo(ingest_); }
  // The wanted job that a series of these labels is of; nullptr: none.
  const LateJob* WantedBy(std::span<const LabelView> labels) const;
  // In time order for each series; `now` is not before any of them.
  void Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples, Timestamp now);
  // All until `watermark` was taken.
  void CloseUntil(Timestamp watermark);
  // Of all wanted jobs, in their order: those without a day have none.
  std::vector<JobPast> TakePasts();

 private:
  void Keep(ClosedWindow& closed);

  const uint64_t seed_;
  const WindowId from_;
  std::vector<LateJob> wanted_;
  absl::flat_hash_map<std::string_view, size_t> by_name_;
  std::vector<std::vector<JobDay>> days_;
  Ingest ingest_;
};

}  // namespace taut::server
