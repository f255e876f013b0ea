// Interface to the owner's service that recommends limits and numbers of tasks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/external.h"

namespace taut::server {

// Reason why an answer is rejected.
enum class ExternalRefusal : uint8_t { kImpossible, kBelowUsage, kAboveOwner, kAboveMachine, kStep };
inline constexpr std::array<std::string_view, 5> kExternalRefusalNames = {
    "impossible", "below_usage", "above_owner", "above_machine", "step"};
constexpr std::string_view Name(ExternalRefusal kind) {
  return kExternalRefusalNames[static_cast<size_t>(kind)];
}

// The first rejected answer with this reason for this job.
struct RefusedAnswer {
  ExternalRefusal kind = ExternalRefusal::kImpossible;
  std::string job;   // printable name of the job
  std::string text;  // the answer and the allowed values
};

struct ExternalHealth {
  bool configured = false;
  bool ok = false;             // true if the last request was answered in time
  std::string error = {};      // last error; "" if `ok`, or before the first request
  bool answers_error = false;  // true if `error` is the service's answer; false: there was no answer
  int64_t last_answer_s = 0;   // time of the last answer, seconds since the epoch; 0: never
  // late_requests: requests that were answered after the deadline.
  uint64_t requests = 0, failed_requests = 0, late_requests = 0;
  uint64_t skipped_batches = 0;  // windows skipped because the previous batch was unanswered
  uint64_t answers = 0, invalid_answers = 0;
  // Numbers of invalid answers, indexed by ExternalRefusal.
  std::array<uint64_t, kExternalRefusalNames.size()> invalid_by_kind{};
  std::string invalid = {};    // the last rejected answer, and the reason
  int64_t last_invalid_s = 0;  // its time, seconds since the epoch; 0: never
  double last_seconds = 0;     // duration of the last batch
};

// One thread calls Ask and Take, which never block for long; any thread may call health.
class ExternalRecommender {
 public:
  virtual ~ExternalRecommender() = default;
  // Sends the jobs of a stored window. Answers arrive later through Take, or never.
  virtual void Ask(ExternalBatch batch) = 0;
  // Returns the answers since the last call; values are finite and at least 0.
  virtual std::vector<ExternalAnswer> Take() = 0;
  // Returns the state of the connection.
  virtual ExternalHealth health() const = 0;
  // Returns the answers rejected since the last call: the first for each reason and job. Thread-safe.
  virtual std::vector<RefusedAnswer> TakeRefused() { return {}; }
};

class NoExternalRecommender final : public ExternalRecommender {
 public:
  void Ask(ExternalBatch) override {}
  std::vector<ExternalAnswer> Take() override { return {}; }
  ExternalHealth health() const override { return {}; }
};

// For tests: stores the batches and returns preset answers.
class InMemoryExternalRecommender final : public ExternalRecommender {
 public:
  void Ask(ExternalBatch batch) override { asked.push_back(std::move(batch)); }
  std::vector<ExternalAnswer> Take() override { return std::exchange(answers, {}); }
  ExternalHealth health() const override { return {.configured = true, .ok = true}; }

  std::vector<ExternalBatch> asked;
  std::vector<ExternalAnswer> answers;
};

}  // namespace taut::server
