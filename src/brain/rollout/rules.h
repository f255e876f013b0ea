// Rules on names and labels, and people's settings, to the policy of a job; with where each value came from.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "brain/rollout/job_policy.h"
#include "common/model/labels.h"

namespace taut::brain {

enum class SettingKind : uint8_t { kChoice, kNumber, kBytes, kDuration, kText, kBoolean };
std::string_view Name(SettingKind kind);

// One row of what can be set for a job: by a rule, in the defaults, or by a person.
using KeyValue = std::pair<std::string, std::string>;

struct JobSetting {
  std::string_view key;  // "mode", "memory.upper", "canary.share"
  std::string_view help;
  SettingKind kind;
  std::vector<std::string_view> choices;  // of kChoice
};
std::span<const JobSetting> JobSettingsTable();
// Of both resources: see PolicyRules::Resolve.
inline constexpr std::string_view kRecommenderKey = "recommender";
// The same setting as it is written now, where an earlier version had another key: "replicas.hpa.down_window_s" and
// "300" become "replicas.hpa.down_window" and "5m". Other keys and values stay as they are.
KeyValue JobSettingNow(std::string_view key, std::string_view value);
// InvalidArgument names the key, and the choices, bounds or nearest key. Reads old keys, too.
absl::Status SetJobSetting(std::string_view key, std::string_view value, JobPolicy& policy);
// As SetJobSetting would read it; "" for a bound that is not set, of a resource's recommender the one it has.
// REQUIRES: a key of the table.
std::string GetJobSetting(std::string_view key, const JobPolicy& policy);
// What no single setting can break: InvalidArgument if a lower bound is above its upper bound.
absl::Status CheckJobPolicy(const JobPolicy& policy);

struct JobRule {
  std::string name;  // for people
  std::vector<KeyValue>
      match;  // "job" (pattern of the name) or a label, and a pattern; all must fit. '*' any text,
              // '|' alternatives, a leading '!' negates
  std::vector<KeyValue> set;  // keys of the table
  // Of CapKeys: what annotations may ask at most. Of several rules the last counts for each key.
  std::vector<KeyValue> cap = {};
};
// Keys of JobRule::cap: "mode" (off < observe < canary < auto), upper bounds, and the most tasks.
std::span<const std::string_view> CapKeys();

struct SettingSource {
  std::string_view key;
  std::string source;  // "default", "rule 3: batch jobs", "set by anna"
};

struct Override {
  std::string key, value, who;
};

// What is wrong with labels that are settings, a sentence each: "tautline.dev/mode: ...". `policy` is that of the
// job, for the signals that its expressions may name.
std::vector<std::string> WrongSettingLabels(std::span<const KeyValue> labels, JobPolicy policy);

// Immutable.
class PolicyRules {
 public:
  PolicyRules();  // no rules, plain defaults
  // InvalidArgument names the rule by number and name, and the key.
  static absl::StatusOr<PolicyRules> Compile(std::vector<JobRule> rules, JobPolicy defaults);

  // Later rules win over earlier ones, labels that are settings (kSettingLabel) over rules, overrides over both.
  // Caps of rules bound what comes of rules and labels, and a move by migration, but no other override.
  // `recommender` at a later place replaces that of a single resource at an earlier one; at the same place that of
  // the resource wins. An override or label that does not parse is skipped; a lower bound that so came to be above
  // its upper bound is the upper bound. `sources`, if not null, gets a row for each row of the table. O(rules).
  JobPolicy Resolve(std::string_view job, std::span<const KeyValue> labels,
                    std::span<const Override> overrides, std::vector<SettingSource>* sources = nullptr) const;
  bool Fits(size_t rule, std::string_view job, std::span<const KeyValue> labels) const;
  std::span<const JobRule> rules() const { return rules_; }
  const JobPolicy& defaults() const { return defaults_; }

 private:
  // Of the rules that fit, with the number of the rule: one for each key.
  std::vector<std::pair<const KeyValue*, size_t>> CapsOf(std::string_view job,
                                                         std::span<const KeyValue> labels) const;

  std::vector<JobRule> rules_;
  JobPolicy defaults_;
};

}  // namespace taut::brain
