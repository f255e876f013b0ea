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

// One setting of a job; it can be set in the defaults, by a rule, by an annotation or by a person.
struct JobSetting {
  std::string_view key;  // "mode", "memory.upper", "canary.share"
  std::string_view help;
  SettingKind kind;
  std::vector<std::string_view> choices;  // for kChoice
};
std::span<const JobSetting> JobSettingsTable();
// Key of the recommender of both resources: see PolicyRules::Resolve.
inline constexpr std::string_view kRecommenderKey = "recommender";
// Returns a setting with its current key and form if an earlier version named it differently:
// "replicas.hpa.down_window_s" and "300" become "replicas.hpa.down_window" and "5m". Other settings are
// returned unchanged.
KeyValue JobSettingNow(std::string_view key, std::string_view value);
// Sets one setting. Returns InvalidArgument with the key and the choices, bounds or nearest key. Accepts
// former keys.
absl::Status SetJobSetting(std::string_view key, std::string_view value, JobPolicy& policy);
// Returns the value in the form that SetJobSetting reads; "" for a bound that is not set. A resource's
// recommender is returned even if only `recommender` is set. REQUIRES: a key of the table.
std::string GetJobSetting(std::string_view key, const JobPolicy& policy);
// Checks combinations of settings. Returns InvalidArgument if, for example, a lower bound is above its upper
// bound.
absl::Status CheckJobPolicy(const JobPolicy& policy);

// A rule of the configuration: which jobs it matches, what it sets, and caps on annotations.
struct JobRule {
  std::string name;  // for people
  std::vector<KeyValue>
      match;  // "job" (pattern of the name) or a label, and a pattern; all must fit. '*' any text,
              // '|' alternatives, a leading '!' negates
  std::vector<KeyValue> set;  // keys of the table
  // Highest values that annotations may set, by key (CapKeys). For each key the last matching rule wins.
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
// `policy`: the job's, for the signals that its expressions may name.
std::vector<std::string> WrongSettingLabels(std::span<const KeyValue> labels, JobPolicy policy);

// Rules and defaults. Immutable, so thread-safe.
class PolicyRules {
 public:
  PolicyRules();  // no rules, plain defaults
  // Checks rules and defaults. Returns InvalidArgument with the rule's number and name, and the key.
  static absl::StatusOr<PolicyRules> Compile(std::vector<JobRule> rules, JobPolicy defaults);

  // Resolves the policy of a job.
  // Later rules win over earlier ones, labels that are settings (kSettingLabel) over rules, overrides over
  // both. Caps of rules bound the result of rules and labels, and a move by migration, but no other override.
  // `recommender` replaces a single resource's recommender from an earlier place; at the same place the
  // resource's own wins. Invalid overrides and labels are skipped. A lower bound that ends up above its upper
  // bound is lowered to it.
  // `sources`, if not null, gets a row for each row of the table. O(rules).
  JobPolicy Resolve(std::string_view job, std::span<const KeyValue> labels,
                    std::span<const Override> overrides, std::vector<SettingSource>* sources = nullptr) const;
  // Returns whether the rule matches the job. REQUIRES: rule < rules().size().
  bool Fits(size_t rule, std::string_view job, std::span<const KeyValue> labels) const;
  std::span<const JobRule> rules() const { return rules_; }
  const JobPolicy& defaults() const { return defaults_; }

 private:
  // Returns the caps of the matching rules, one for each key, with the number of its rule.
  std::vector<std::pair<const KeyValue*, size_t>> CapsOf(std::string_view job,
                                                         std::span<const KeyValue> labels) const;

  std::vector<JobRule> rules_;
  JobPolicy defaults_;
};

}  // namespace taut::brain
