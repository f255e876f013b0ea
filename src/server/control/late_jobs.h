// Jobs that appeared after the cell's start, and their earlier usage, which is read from a source of history.
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
  WindowId until;  // window before which the missing history ends
  PerResource<Allocation> allocation = {};
};

// Numbers of jobs by the state of the request for their history: not answered, answered with usage, answered
// without usage.
struct LateJobCounts {
  uint64_t waiting = 0, read = 0, nothing = 0;
};

// Facts about tasks (such as their owners) from historical series, in compact form.
class PastFacts {
 public:
  // `time`: timestamp of the facts.
  explicit PastFacts(Timestamp time) : time_(time) {}
  // Adds the facts in the labels of one series.
  void Add(std::span<const LabelView> labels);
  // Encodes the facts of the last calls of Add. Called after the last Add.
  void Finish();
  // Writes all facts to `ingest`. Returns the first error of `ingest`.
  absl::Status GiveTo(Ingest& ingest) const;

 private:
  const Timestamp time_;
  std::vector<std::vector<std::pair<std::string, std::string>>> pending_;
  std::vector<std::string> bodies_;
};

// Converts historical series of some jobs into days of usage. Applies the mapping rules of live samples in a
// separate ingest, so that the conversion creates no jobs in the daemon. Not thread-safe.
class PastFold {
 public:
  // Ignores OOM kills, reports of agents, and windows before `from`.
  PastFold(const MappingRules& rules, const Ingest::Options& options, WindowId from,
           std::span<const LateJob> wanted);

  // Applies facts before the samples that need them. Returns the first error.
  absl::Status TakeFacts(const PastFacts& facts) { return facts.GiveTo(ingest_); }
  // Returns the requested job that these labels belong to, or nullptr.
  const LateJob* WantedBy(std::span<const LabelView> labels) const;
  // Adds samples, in time order per series. `now` is not before the newest of these samples.
  void Take(std::span<const LabelView> labels, std::span<const RemoteSample> samples, Timestamp now);
  // Closes the windows before `watermark`. REQUIRES that all samples before `watermark` were added.
  void CloseUntil(Timestamp watermark);
  // Returns the past usage of every requested job, in the order of the requested jobs; kNothing for a job
  // without a day of usage.
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
