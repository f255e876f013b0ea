// Resolves rules on names and labels, and people's settings, to the policy of a job, with the source of each
// value.
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

// (key, value) of a setting or a label.
using KeyValue = std::pair<std::string, std::string>;

// One setting of a job, which the defaults, a rule, an annotation or a person can set.
struct JobSetting {
  std::string_view key;  // "mode", "memory.upper", "canary.share"
  std::string_view help;
  SettingKind kind;
  std::vector<std::string_view> choices;  // for kChoice
};
std::span<const JobSetting> JobSettingsTable();
// Key of the recommender of both resources: see PolicyRules::Resolve.
inline constexpr std::string_view kRecommenderKey = "recommender";
// Returns a setting with its current key and form if an earlier version had another key:
// "replicas.hpa.down_window_s" and "300" become "replicas.hpa.down_window" and "5m". Other settings are returned
// unchanged.
KeyValue JobSettingNow(std::string_view key, std::string_view value);
// Sets one setting. Returns InvalidArgument with the key and the choices, bounds or nearest key. Accepts
// former keys.
absl::Status SetJobSetting(std::string_view key, std::string_view value, JobPolicy& policy);
// Returns the value in the form that SetJobSetting reads; "" for a bound that is not set. For the key of a
// resource's recommender, returns `recommender` if only that is set. REQUIRES: a key of the table.
std::string GetJobSetting(std::string_view key, const JobPolicy& policy);
// Checks combinations of settings. Returns InvalidArgument if, for example, a lower bound is above its upper
// bound.
absl::Status CheckJobPolicy(const JobPolicy& policy);

// A rule of the configuration: a pattern of jobs, settings for these jobs, and caps on annotations.
struct JobRule {
  std::string name;  // for people
  std::vector<KeyValue>
      match;  // "job" (pattern of the name) or a label, and a pattern; all must fit. '*' any text,
              // '|' alternatives, a leading '!' negates
  std::vector<KeyValue> set;  // keys of the table
  // Highest values that annotations may set, by key (CapKeys). For each key the last matching rule applies.
  std::vector<KeyValue> cap = {};
};
// Keys of JobRule::cap: "mode" (off < observe < canary < auto), upper bounds, and the highest number of
// tasks.
std::span<const std::string_view> CapKeys();

// Origin of one setting's value.
struct SettingSource {
  std::string_view key;
  std::string source;  // "default", "rule 3: batch jobs", "set by anna"
};

// A setting of one job by a person, or by migration.
struct Override {
  std::string key, value, who;
};

// Returns one sentence for each label that is an invalid setting: "The annotation tautline.dev/mode ...".
// `policy`: the job's policy, which has the names of the signals that expressions may use.
std::vector<std::string> WrongSettingLabels(std::span<const KeyValue> labels, JobPolicy policy);

// Rules and defaults. Immutable, so thread-safe.
class PolicyRules {
 public:
  PolicyRules();  // no rules, plain defaults
  // Checks rules and defaults. Returns InvalidArgument with the rule's number and name, and the key.
  static absl::StatusOr<PolicyRules> Compile(std::vector<JobRule> rules, JobPolicy defaults);

  // Resolves the policy of a job.
  // Precedence, lowest first: defaults, rules in order, setting labels (kSettingLabel), overrides by migration,
  // caps of rules, other overrides. `recommender` clears a resource's own recommender from an earlier place; at
  // the same place the resource's own applies. Skips invalid overrides and labels. Reduces lower bounds to upper
  // bounds. Raises replicas.min from 0 to 1 if the job could never start again.
  // `sources`, if not null, receives a row for each setting. O(rules).
  JobPolicy Resolve(std::string_view job, std::span<const KeyValue> labels,
                    std::span<const Override> overrides, std::vector<SettingSource>* sources = nullptr) const;
  // Returns true if the rule matches the job. REQUIRES: rule < rules().size().
  bool Fits(size_t rule, std::string_view job, std::span<const KeyValue> labels) const;
  std::span<const JobRule> rules() const { return rules_; }
  const JobPolicy& defaults() const { return defaults_; }

 private:
  // Returns the caps of the matching rules, one cap for each key, with the number of the cap's rule.
  std::vector<std::pair<const KeyValue*, size_t>> CapsOf(std::string_view job,
                                                         std::span<const KeyValue> labels) const;

  std::vector<JobRule> rules_;
  JobPolicy defaults_;
};

}  // namespace taut::brain
