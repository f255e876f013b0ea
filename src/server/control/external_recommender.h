// A service of the owner's that recommends limits and numbers of tasks.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/model/external.h"

namespace taut::server {

// Why an answer is not taken.
enum class ExternalRefusal : uint8_t { kImpossible, kBelowUsage, kAboveOwner, kAboveMachine, kStep };
inline constexpr std::array<std::string_view, 5> kExternalRefusalNames = {
    "impossible", "below_usage", "above_owner", "above_machine", "step"};
constexpr std::string_view Name(ExternalRefusal kind) {
  return kExternalRefusalNames[static_cast<size_t>(kind)];
}

// The first of its kind about its job.
struct RefusedAnswer {
  ExternalRefusal kind = ExternalRefusal::kImpossible;
  std::string job;   // printable
  std::string text;  // what was answered, and what is allowed
};

struct ExternalHealth {
  bool configured = false;
  bool ok = false;                                                // the last request was answered in time
  std::string error = {};                                         // why not; "" if ok, or none was sent yet
  int64_t last_answer_s = 0;                                      // 0: never
  uint64_t requests = 0, failed_requests = 0, late_requests = 0;  // late: over the deadline
  uint64_t skipped_batches = 0;  // of windows that were over while the one before was still being answered
  uint64_t answers = 0, invalid_answers = 0;
  std::array<uint64_t, kExternalRefusalNames.size()>
      invalid_by_kind{};     // of invalid_answers, by ExternalRefusal
  std::string invalid = {};  // the last answer that was not taken, and why
  double last_seconds = 0;   // how long the last batch took
};

// Ask and Take are called from one thread and never block for long; health from any.
class ExternalRecommender {
 public:
  virtual ~ExternalRecommender() = default;
  // The jobs of a window that is stored. Answers come by Take, or never.
  virtual void Ask(ExternalBatch batch) = 0;
  // What came since the last call; values are finite and at least 0.
  virtual std::vector<ExternalAnswer> Take() = 0;
  virtual ExternalHealth health() const = 0;
  // Answers that were not taken, since the last call: of each kind and job the first. Any thread.
  virtual std::vector<RefusedAnswer> TakeRefused() { return {}; }
};

class NoExternalRecommender final : public ExternalRecommender {
 public:
  void Ask(ExternalBatch) override {}
  std::vector<ExternalAnswer> Take() override { return {}; }
  ExternalHealth health() const override { return {}; }
};

// For tests: keeps what was asked, answers what it was given.
class InMemoryExternalRecommender final : public ExternalRecommender {
 public:
  void Ask(ExternalBatch batch) override { asked.push_back(std::move(batch)); }
  std::vector<ExternalAnswer> Take() override { return std::exchange(answers, {}); }
  ExternalHealth health() const override { return {.configured = true, .ok = true}; }

  std::vector<ExternalBatch> asked;
  std::vector<ExternalAnswer> answers;
};

}  // namespace taut::server
