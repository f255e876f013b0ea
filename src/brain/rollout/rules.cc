#include "brain/rollout/rules.h"

#include <algorithm>
#include <array>

#include "brain/rollout/migration.h"
#include "common/base/nearest.h"
#include "common/base/pattern.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

std::string RuleName(size_t index, const JobRule& rule) {
  return rule.name.empty() ? StrCat("rule ", index + 1) : StrCat("rule ", index + 1, ": ", rule.name);
}

// A setting and its source: a rule, the annotations, or people.
struct Given {
  std::string_view key, value;
  std::string source;
};

bool FitsOne(const KeyValue& match, std::string_view job, std::span<const KeyValue> labels) {
  std::string_view value;
  if (match.first == "job") {
    value = job;
  } else {
    for (const KeyValue& label : labels) {
      if (label.first == match.first) value = label.second;
    }
  }
  std::string_view pattern = match.second;
  const bool negate = !pattern.empty() && pattern.front() == '!';
  if (negate) pattern.remove_prefix(1);
  return FitsPattern(value, pattern) != negate;
}

constexpr std::array<std::string_view, 4> kCapKeys = {"mode", "cpu.upper", "memory.upper", "replicas.max"};

// Applies a cap. Returns false if the policy is already within the cap.
bool ApplyCap(const KeyValue& cap, JobPolicy& policy) {
  JobPolicy most;
  if (!SetJobSetting(cap.first, cap.second, most).ok()) return false;
  if (cap.first == "mode") {
    if (policy.mode <= most.mode) return false;
    policy.mode = most.mode;
    return true;
  }
  if (cap.first == "replicas.max") {
    if (policy.replicas.bounds.max <= most.replicas.bounds.max) return false;
    policy.replicas.bounds.max = most.replicas.bounds.max;
    return true;
  }
  const Resource r = *ResourceNamed(std::string_view(cap.first).substr(0, cap.first.find('.')));
  std::optional<double>& upper = policy.bounds_by[IndexOf(r)].upper;
  const std::optional<double>& highest = most.bounds(r).upper;
  if (!highest.has_value() || (upper.has_value() && *upper <= *highest)) return false;
  upper = highest;
  return true;
}

absl::Status CheckCap(const KeyValue& cap) {
  if (std::ranges::find(kCapKeys, cap.first) == kCapKeys.end()) {
    return absl::InvalidArgumentError(StrCat("cap: unknown key \"", cap.first, "\"; did you mean \"",
                                             NearestName(cap.first, kCapKeys), "\"?"));
  }
  JobPolicy policy;
  if (absl::Status s = SetJobSetting(cap.first, cap.second, policy); !s.ok())
    return absl::InvalidArgumentError(StrCat("cap: ", Message(s)));
  return absl::OkStatus();
}

}  // namespace

std::span<const std::string_view> CapKeys() { return kCapKeys; }

std::vector<std::string> WrongSettingLabels(std::span<const KeyValue> labels, JobPolicy policy) {
  std::vector<std::string> out;
  for (const auto& [key, value] : labels) {
    if (!key.starts_with(kSettingLabel)) continue;
    const absl::Status s = SetJobSetting(std::string_view(key).substr(kSettingLabel.size()), value, policy);
    if (!s.ok()) out.push_back(StrCat("The annotation ", key, " is not used: ", Message(s)));
  }
  return out;
}

PolicyRules::PolicyRules() = default;

absl::StatusOr<PolicyRules> PolicyRules::Compile(std::vector<JobRule> rules, JobPolicy defaults) {
  if (absl::Status s = CheckJobPolicy(defaults); !s.ok()) {
    return absl::InvalidArgumentError(StrCat("defaults: ", Message(s)));
  }
  for (size_t i = 0; i < rules.size(); ++i) {
    const auto bad = [&](std::string_view what) {
      return absl::InvalidArgumentError(StrCat(RuleName(i, rules[i]), ": ", what));
    };
    JobPolicy policy;
    policy.replicas.signals = defaults.replicas.signals;
    for (const KeyValue& match : rules[i].match) {
      if (match.first.empty()) return bad("a match without a label");
    }
    for (const KeyValue& set : rules[i].set) {
      if (absl::Status s = SetJobSetting(set.first, set.second, policy); !s.ok()) return bad(Message(s));
    }
    if (absl::Status s = CheckJobPolicy(policy); !s.ok()) return bad(Message(s));
    for (const KeyValue& cap : rules[i].cap) {
      if (absl::Status s = CheckCap(cap); !s.ok()) return bad(Message(s));
    }
  }
  PolicyRules out;
  out.rules_ = std::move(rules);
  out.defaults_ = std::move(defaults);
  return out;
}

bool PolicyRules::Fits(size_t rule, std::string_view job, std::span<const KeyValue> labels) const {
  for (const KeyValue& match : rules_[rule].match) {
    if (!FitsOne(match, job, labels)) return false;
  }
  return true;
}

std::vector<std::pair<const KeyValue*, size_t>> PolicyRules::CapsOf(std::string_view job,
                                                                    std::span<const KeyValue> labels) const {
  std::vector<std::pair<const KeyValue*, size_t>> out;
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (rules_[i].cap.empty() || !Fits(i, job, labels)) continue;
    for (const KeyValue& cap : rules_[i].cap) {
      std::erase_if(out, [&cap](const auto& other) { return other.first->first == cap.first; });
      out.emplace_back(&cap, i);
    }
  }
  return out;
}

JobPolicy PolicyRules::Resolve(std::string_view job, std::span<const KeyValue> labels,
                               std::span<const Override> overrides,
                               std::vector<SettingSource>* sources) const {
  JobPolicy policy = defaults_;
  if (sources != nullptr) {
    sources->clear();
    for (const JobSetting& s : JobSettingsTable()) sources->push_back({s.key, "default"});
  }
  const auto name_source = [&](std::string_view key, const std::string& source) {
    for (size_t i = 0; sources != nullptr && i < sources->size(); ++i) {
      if ((*sources)[i].key == key) (*sources)[i].source = source;
    }
  };
  const auto apply = [&](const Given& given) {
    if (!SetJobSetting(given.key, given.value, policy).ok()) return;
    name_source(JobSettingNow(given.key, "").first, given.source);
    if (given.key != kRecommenderKey) return;
    for (std::optional<Policy>* own : {&policy.cpu_recommender, &policy.memory_recommender}) own->reset();
    for (const Resource r : kResources) name_source(StrCat(Name(r), ".", kRecommenderKey), given.source);
  };
  const auto apply_all = [&](std::vector<Given> place) {
    // `recommender` is applied first, because it resets the resources' own recommenders. Within one source, a
    // resource's own recommender overrides `recommender`.
    std::stable_partition(place.begin(), place.end(),
                          [](const Given& g) { return g.key == kRecommenderKey; });
    for (const Given& given : place) apply(given);
  };
  for (size_t i = 0; i < rules_.size(); ++i) {
    if (!Fits(i, job, labels)) continue;
    std::vector<Given> place;
    for (const KeyValue& set : rules_[i].set)
      place.push_back({set.first, set.second, RuleName(i, rules_[i])});
    apply_all(std::move(place));
  }
  std::vector<Given> annotations, moves, people;
  for (const auto& [key, value] : labels) {
    if (!key.starts_with(kSettingLabel)) continue;
    annotations.push_back(
        {std::string_view(key).substr(kSettingLabel.size()), value, StrCat("annotation ", key)});
  }
  apply_all(std::move(annotations));
  for (const Override& o : overrides)
    (o.who == kMigrationName ? moves : people).push_back({o.key, o.value, StrCat("set by ", o.who)});
  apply_all(std::move(moves));
  // Caps are applied after annotations and moves, because caps bound both. People's settings are applied later,
  // because caps do not bound them.
  for (const auto& [cap, rule] : CapsOf(job, labels)) {
    if (ApplyCap(*cap, policy)) name_source(cap->first, StrCat("cap of ", RuleName(rule, rules_[rule])));
  }
  apply_all(std::move(people));
  for (BoundSettings& b : policy.bounds_by) {
    if (b.lower.has_value() && b.upper.has_value() && *b.lower > *b.upper) b.lower = b.upper;
  }
  ReplicaBounds& tasks = policy.replicas.bounds;
  tasks.min = std::min(tasks.min, tasks.max);
  if (GoesToZeroForGood(policy)) tasks.min = 1;  // rules that are valid alone may have this result together
  return policy;
}

}  // namespace taut::brain
