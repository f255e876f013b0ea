// Resolves the policy of a job from rules on names and labels and from people's settings, with the source of
// each value.
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

// The key and value of a setting or of a label.
using KeyValue = std::pair<std::string, std::string>;

// One setting of a job, which defaults, a rule, an annotation or a person can set.
struct JobSetting {
  std::string_view key;  // key, such as "mode", "memory.upper" or "canary.share"
  std::string_view help;
  SettingKind kind;
  std::vector<std::string_view> choices;  // allowed values for kChoice, else empty
};
std::span<const JobSetting> JobSettingsTable();
// Key of the recommender of both resources. The key of one resource overrides this key (PolicyRules::Resolve).
inline constexpr std::string_view kRecommenderKey = "recommender";
// Returns a setting with its current key and form if an earlier version had another key:
// "replicas.hpa.down_window_s" and "300" become "replicas.hpa.down_window" and "5m". Returns other settings
// unchanged.
KeyValue JobSettingNow(std::string_view key, std::string_view value);
// Sets one setting. Returns InvalidArgument with the key and the choices, bounds or nearest key. Accepts
// former keys.
absl::Status SetJobSetting(std::string_view key, std::string_view value, JobPolicy& policy);
// Returns the value in the form that SetJobSetting reads; "" for a bound that is not set. For the key of a
// resource's recommender, returns `recommender` if the resource has no recommender of its own. REQUIRES: a key of
// the table.
std::string GetJobSetting(std::string_view key, const JobPolicy& policy);
// Checks combinations of settings. Returns InvalidArgument if, for example, a lower bound exceeds its upper
// bound.
absl::Status CheckJobPolicy(const JobPolicy& policy);

// A rule of the configuration: patterns that select jobs, settings of these jobs, and caps on annotations.
struct JobRule {
  std::string name;  // name of the rule in messages
  // Patterns of a job's name (key "job") or of a label, which must all match. '*' matches any text, '|' separates
  // alternatives, a leading '!' negates.
  std::vector<KeyValue> match;
  std::vector<KeyValue> set;  // settings by keys of JobSettingsTable()
  // Highest values that annotations may set, by key of CapKeys(). The last matching rule applies to each key.
  std::vector<KeyValue> cap = {};
};
// Keys of JobRule::cap: "mode" (off < observe < canary < auto), upper bounds, and the highest number of
// tasks.
std::span<const std::string_view> CapKeys();

// Origin of one setting's value.
struct SettingSource {
  std::string_view key;
  std::string source;  // source of the value: "default", "rule 3: batch jobs", "set by anna"
};

// A setting of one job by a person, or by migration.
struct Override {
  std::string key, value, who;
};

// Returns one sentence for each label that is an invalid setting: "The annotation tautline.dev/mode ...".
// `policy` is the job's policy, which has the names of the signals that expressions may use.
std::vector<std::string> WrongSettingLabels(std::span<const KeyValue> labels, JobPolicy policy);

// Rules and defaults of all jobs. Immutable, therefore thread-safe.
class PolicyRules {
 public:
  PolicyRules();  // creates an object without rules, with plain defaults
  // Checks rules and defaults. Returns InvalidArgument with the rule's number and name, and the key.
  static absl::StatusOr<PolicyRules> Compile(std::vector<JobRule> rules, JobPolicy defaults);

  // Resolves the policy of a job. Precedence, lowest first: defaults, rules in order, setting labels
  // (kSettingLabel), overrides by migration, caps of rules, other overrides. `recommender` clears a resource's own
  // recommender from a source of lower precedence; within one source the resource's own recommender applies. Skips
  // invalid overrides and labels. Reduces a lower bound that exceeds its upper bound to the upper bound. Raises
  // replicas.min from 0 to 1 if the job could never start again. `sources`, if not null, receives a row for each
  // setting. O(rules).
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
