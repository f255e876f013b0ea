// A service of the owner's that recommends limits and numbers of tasks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/external.h"

namespace taut {

struct ExternalHealth {
  bool configured = false;
  bool ok = false;                                                // the last request was answered in time
  std::string error = {};                                         // why not; "" if ok, or none was sent yet
  int64_t last_answer_s = 0;                                      // 0: never
  uint64_t requests = 0, failed_requests = 0, late_requests = 0;  // late: over the deadline
  uint64_t skipped_batches = 0;  // of windows that were over while the one before was still being answered
  uint64_t answers = 0, invalid_answers = 0;
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

}  // namespace taut
