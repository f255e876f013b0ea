// The reason of a limit, as data. Front ends format it as a paragraph, a table or JSON.
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

// One alternative that was compared; a lower cost is better.
struct Candidate {
  std::string name;  // name such as "half-life 12 h, margin 10 %"
  double limit = 0;
  double cost = 0;
  std::string detail;  // parts of the cost, as text
  bool chosen = false;
};

// One step from the raw figure to the final limit.
struct ReasonStep {
  std::string what;  // description such as "margin 12.3 %"
  double before = 0;
  double after = 0;
  // The kind of step, for programs: "margin", "hold", "most_chance", "median", "kept", "raise", "oom_floor",
  // "start", "least", "rounding", "lower_bound", "upper_bound"; "" for the first figure.
  std::string kind = {};
};

struct Fact {
  std::string name;  // name such as "windows seen"
  std::variant<double, std::string> value;
  std::string unit;  // "" for a plain number or text
};

struct Reason {
  std::string recommender;
  std::string sentence;  // one or two sentences a person understands; no trailing newline
  std::vector<Fact> facts;
  std::vector<Candidate> candidates;
  std::string cost_unit;  // unit of costs: "bytes", "cores" (times days), or "" for a plain number
  std::vector<ReasonStep> steps;
  // The reason in a few words, for lists of decisions, such as "usage came within 20 % of the limit"; "" if there
  // is none.
  std::string why;
  // The limit that the reason explains, after the last step. The outermost wrapper of a recommender sets the
  // limit before it calls the wrapped recommender.
  std::optional<double> limit;
  // The risk of `limit` (common/model/limit_risk.h): the forecast P(a day's peak > limit), the job's observed days
  // and the number of days above the limit. A value that is set before Explain is kept.
  std::optional<double> chance;
  uint32_t days = 0, days_over = 0;

  void SetRisk(const LimitRisk& risk);
};

// Encodes a reason for a store, with the version of the encoding.
std::string SaveReason(const Reason& reason);
// Decodes a reason of this or an older version. Unimplemented for a newer version, DataLoss for damaged
// bytes.
absl::StatusOr<Reason> LoadReason(std::string_view bytes);

}  // namespace taut
