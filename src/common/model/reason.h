// Why a limit is what it is, as data. Faces turn it into a paragraph, a table or JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/bytes.h"
#include "common/model/limit_risk.h"

namespace taut {

// One alternative that was weighed; a lower cost is better.
struct Candidate {
  std::string name;  // "half-life 12 h, margin 10 %"
  double limit = 0;
  double cost = 0;
  std::string detail;  // what the cost is made of
  bool chosen = false;
};

// One step from the raw figure to the final limit.
struct ReasonStep {
  std::string what;  // "margin 12.3 %", "owner's upper bound"
  double before = 0;
  double after = 0;
  // What kind of step, for programs: "margin", "hold", "most_chance", "median", "kept",
  // "raise", "oom_floor", "start", "least", "rounding", "lower_bound", "upper_bound"; "" where the figure
  // begins.
  std::string kind = {};
};

struct Fact {
  std::string name;  // "windows seen"
  std::variant<double, std::string> value;
  std::string unit;  // "" for a plain number or text
};

struct Reason {
  std::string recommender;
  std::string sentence;  // one or two sentences a person understands; no trailing newline
  std::vector<Fact> facts;
  std::vector<Candidate> candidates;
  std::string cost_unit;  // of the candidates: "bytes", "cores" (times days), or "" for a plain number
  std::vector<ReasonStep> steps;
  // In a few words, for a list beside the figures: "usage came within 20 % of the limit". "": none.
  std::string why;
  // The limit that all of this is about, after its last step. The outermost wrapper sets it before it asks
  // the one within.
  std::optional<double> limit;
  // The risk of that limit (common/model/limit_risk.h): P(a day's peak > limit), for a recommender that
  // forecasts, and
  // the job's own days with those above it. One that is there before Explain stays.
  std::optional<double> chance;
  uint32_t days = 0, days_over = 0;

  void SetRisk(const LimitRisk& risk);
};

// Bytes for a store, versioned.
std::string SaveReason(const Reason& reason);
// DataLoss or Unimplemented for bytes that SaveReason of this version cannot have written.
absl::StatusOr<Reason> LoadReason(std::string_view bytes);

}  // namespace taut
