// Reads and writes each kind of job setting. job_settings_table.cc has the rows.
#include <cmath>
#include <string>
#include <variant>

#include "brain/rollout/job_setting_rows.h"
#include "brain/rollout/maintenance.h"
#include "brain/rollout/rules.h"
#include "common/base/byte_units.h"
#include "common/base/nearest.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::brain {
namespace {

constexpr std::string_view kKindNames[] = {"choice", "number", "bytes", "duration", "text", "boolean"};

struct Row {
  JobSetting setting;
  JobField (*field)(JobPolicy&);
  double min = 0, max = 0;  // bounds of numbers, in the unit that people write
  double scale = 1;         // (value in the unit that people write) = (value of the field) * scale
  // Row of a setting of JobPolicy::replicas, for which `field` is null; nullptr for a field of JobPolicy.
  const ReplicaSetting* replica = nullptr;
  std::string_view was = {};  // former key of the setting; "" if the key has not changed
};

constexpr std::string_view kReplicas = "replicas.";

SettingKind KindOf(const ReplicaSetting& setting) {
  if (setting.unit == FieldUnit::kDuration) return SettingKind::kDuration;
  ReplicaSettings settings;
  const FieldType* type = &setting.field(settings).type();
  const bool number = type == &BasicFieldType<double>() || type == &BasicFieldType<int>();
  return number ? SettingKind::kNumber : SettingKind::kText;
}

// Returns the job's key of a replica policy's setting, such as "replicas.min" or "replicas.hpa.target".
std::string JobKeyOf(std::string_view replica_key) {
  return replica_key.starts_with(kReplicas) ? std::string(replica_key) : StrCat(kReplicas, replica_key);
}

const std::vector<Row>& Rows() {
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> out;
    for (const ReplicaSetting& s : ReplicaSettingsTable()) out.push_back(JobKeyOf(s.key));
    return out;
  }();
  static const std::vector<std::string> old_keys = [] {
    std::vector<std::string> out;
    for (const ReplicaSetting& s : ReplicaSettingsTable())
      out.push_back(s.extras.old.key.empty() ? "" : JobKeyOf(s.extras.old.key));
    return out;
  }();
  static const std::vector<Row> rows = [] {
    std::vector<Row> out;
    for (const JobFieldRow& r : JobFieldRows()) {
      const std::vector<std::string_view> choices =
          r.choices == nullptr ? std::vector<std::string_view>() : r.choices();
      out.push_back({{r.key, r.help, r.kind, choices}, r.field, r.min, r.max, r.scale, nullptr, r.was});
    }
    for (size_t i = 0; i < keys.size(); ++i) {
      const ReplicaSetting& s = ReplicaSettingsTable()[i];
      out.push_back(
          {.setting = {keys[i], s.help, KindOf(s), {}}, .field = nullptr, .replica = &s, .was = old_keys[i]});
    }
    return out;
  }();
  return rows;
}

const Row* Find(std::string_view key) {
  for (const Row& row : Rows()) {
    if (row.setting.key == key || (!row.was.empty() && row.was == key)) return &row;
  }
  return nullptr;
}

// Wrong names that people often write, each with the correct key.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"latency sensitivity", "class"},
    {"latency_sensitivity", "class"},
    {"sensitivity", "class"},
    {"policy", "recommender"},
    {"algorithm", "recommender"},
    {"maintenance_window", "maintenance"},
    {"memory.max", "memory.upper"},
    {"memory.min", "memory.lower"},
    {"cpu.max", "cpu.upper"},
    {"cpu.min", "cpu.lower"},
    {"recommender.cpu", "cpu.recommender"},
    {"recommender.memory", "memory.recommender"},
};

absl::Status UnknownKey(std::string_view key) {
  std::vector<std::string_view> names;
  for (const Row& row : Rows()) names.push_back(row.setting.key);
  for (const auto& [other, ours] : kOtherNames) names.push_back(other);
  std::string nearest = NearestName(key, names);
  for (const auto& [other, ours] : kOtherNames) {
    if (nearest == other) nearest = std::string(ours);
  }
  return absl::InvalidArgumentError(
      StrCat("unknown job setting \"", key, "\"; did you mean \"", nearest, "\"?"));
}

absl::Status Bad(const Row& row, std::string_view what) {
  return absl::InvalidArgumentError(StrCat(row.setting.key, ": ", what));
}

std::string NumberText(const Row& row, double value) {
  const double shown = value * row.scale;
  if (row.setting.kind == SettingKind::kBytes) return BytesText(shown);
  if (row.setting.kind == SettingKind::kDuration) return DurationText(std::llround(shown));
  return StrCat(shown);
}

absl::StatusOr<double> ParsePlain(std::string_view text) {
  double factor = 1;
  if (!text.empty() && text.back() == '%') {
    factor = 0.01;
    text = StripSpace(text.substr(0, text.size() - 1));
  }
  const std::optional<double> value = ParseDouble(text);
  if (!value.has_value()) return absl::InvalidArgumentError(StrCat("\"", text, "\" is not a number"));
  return *value * factor;
}

absl::StatusOr<double> ParseNumber(const Row& row, std::string_view text) {
  absl::StatusOr<double> value = 0.0;
  if (row.setting.kind == SettingKind::kBytes) {
    value = ParseBytes(text);
  } else if (const std::optional<double> bare = ParseDouble(text);
             row.setting.kind == SettingKind::kDuration && bare.has_value()) {
    value = std::round(*bare);  // seconds, because settings stored by earlier versions may lack a unit
  } else if (row.setting.kind == SettingKind::kDuration) {
    const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
    if (!seconds.ok()) return Bad(row, Message(seconds.status()));
    value = static_cast<double>(*seconds);
  } else {
    value = ParsePlain(text);
  }
  if (!value.ok()) return Bad(row, Message(value.status()));
  if (!(*value >= row.min && *value <= row.max)) {
    const bool is_share = row.setting.kind == SettingKind::kNumber && row.max == 1;
    return Bad(row, StrCat(text, " is outside ", NumberText(row, row.min / row.scale), " .. ",
                           NumberText(row, row.max / row.scale),
                           is_share ? "; expected a share such as 0.05 or 5%" : ""));
  }
  return *value / row.scale;
}

// Returns the resource whose name begins the row's key. REQUIRES: the key begins with the name of a resource.
Resource ResourceOf(const Row& row) {
  return *ResourceNamed(row.setting.key.substr(0, row.setting.key.find('.')));
}

struct Assign {
  const Row& row;
  std::string_view text;

  template <typename T>
  requires std::is_enum_v<T> absl::Status operator()(T* target) const {
    const auto& choices = row.setting.choices;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (choices[i] == text) {
        *target = static_cast<T>(i);
        return absl::OkStatus();
      }
    }
    return Bad(row, StrCat("\"", text, "\": expected one of ", Join(choices, ", ")));
  }
  absl::Status operator()(std::optional<Policy>* target) const {
    target->reset();
    return text.empty() ? absl::OkStatus() : (*this)(&target->emplace());
  }
  absl::Status operator()(double* target) const {
    const absl::StatusOr<double> value = ParseNumber(row, text);
    if (value.ok()) *target = *value;
    return value.status();
  }
  absl::Status operator()(std::optional<double>* target) const {
    if (text.empty() || text == "none") {
      target->reset();
      return absl::OkStatus();
    }
    const absl::StatusOr<double> value = ParseNumber(row, text);
    if (value.ok()) *target = *value;
    return value.status();
  }
  absl::Status operator()(std::vector<MaintenanceWindow>* target) const {
    absl::StatusOr<std::vector<MaintenanceWindow>> windows = ParseMaintenance(text);
    if (!windows.ok()) return Bad(row, Message(windows.status()));
    *target = *std::move(windows);
    return absl::OkStatus();
  }
  // The target refers to the text of a choice, which is static and outlives every policy. The choice "none" sets
  // "".
  absl::Status operator()(std::string_view* target) const {
    for (const std::string_view choice : row.setting.choices) {
      if (choice != text) continue;
      *target = choice == kNoReplicaPolicy ? std::string_view() : choice;
      return absl::OkStatus();
    }
    return Bad(row, StrCat("\"", text, "\": expected one of ", Join(row.setting.choices, ", ")));
  }
  absl::Status operator()(AllowedRange* target) const {
    absl::StatusOr<AllowedRange> range = ParseAllowedRange(ResourceOf(row), text);
    if (!range.ok()) return Bad(row, Message(range.status()));
    *target = *std::move(range);
    return absl::OkStatus();
  }
  absl::Status operator()(JobVersion* target) const {
    absl::StatusOr<JobVersion> version = ParseJobVersion(text);
    if (!version.ok()) return Bad(row, Message(version.status()));
    *target = *std::move(version);
    return absl::OkStatus();
  }
  absl::Status operator()(bool* target) const {
    const bool yes = text == "true" || text == "yes" || text == "on";
    if (!yes && text != "false" && text != "no" && text != "off") {
      return Bad(row, StrCat("\"", text, "\": expected true or false"));
    }
    *target = yes;
    return absl::OkStatus();
  }
};

struct Show {
  const Row& row;

  template <typename T>
  requires std::is_enum_v<T> std::string operator()(const T* value) const {
    return std::string(row.setting.choices[static_cast<size_t>(*value)]);
  }
  std::string operator()(const std::optional<Policy>* value) const {
    return value->has_value() ? (*this)(&**value) : "";  // GetJobSetting replaces an unset recommender
  }
  std::string operator()(const double* value) const { return NumberText(row, *value); }
  std::string operator()(const std::optional<double>* value) const {
    return value->has_value() ? NumberText(row, **value) : "";
  }
  std::string operator()(const std::vector<MaintenanceWindow>* value) const {
    return MaintenanceText(*value);
  }
  std::string operator()(const std::string_view* value) const {
    return std::string(value->empty() ? kNoReplicaPolicy : *value);
  }
  std::string operator()(const AllowedRange* value) const {
    return AllowedRangeText(ResourceOf(row), *value);
  }
  std::string operator()(const JobVersion* value) const { return JobVersionText(*value); }
  std::string operator()(const bool* value) const { return *value ? "true" : "false"; }
};

}  // namespace

std::string_view Name(SettingKind kind) { return kKindNames[static_cast<size_t>(kind)]; }

std::span<const JobSetting> JobSettingsTable() {
  static const std::vector<JobSetting> table = [] {
    std::vector<JobSetting> out;
    for (const Row& row : Rows()) out.push_back(row.setting);
    return out;
  }();
  return table;
}

KeyValue JobSettingNow(std::string_view key, std::string_view value) {
  const Row* row = Find(key);
  if (row == nullptr || key == row->setting.key) return {std::string(key), std::string(value)};
  if (row->replica == nullptr || value.empty()) return {std::string(row->setting.key), std::string(value)};
  const std::string text(value);
  return {std::string(row->setting.key),
          ItemsText(FromOldKey(row->replica->spec(), row->replica->extras.old, std::span(&text, 1)))};
}

absl::Status SetJobSetting(std::string_view key, std::string_view value, JobPolicy& policy) {
  const Row* row = Find(key);
  if (row == nullptr) return UnknownKey(key);
  if (row->replica != nullptr) {
    const KeyValue now = JobSettingNow(key, StripSpace(value));
    FieldSpec spec = row->replica->spec();
    spec.key = row->setting.key;
    return SetField(spec, row->replica->field(policy.replicas), now.second);
  }
  return std::visit(Assign{*row, StripSpace(value)}, row->field(policy));
}

std::string GetJobSetting(std::string_view key, const JobPolicy& policy) {
  const Row* row = Find(key);
  if (row == nullptr) return "";
  if (row->replica != nullptr) return GetSetting(*row->replica, policy.replicas);
  JobPolicy copy = policy;
  const JobField field = row->field(copy);
  if (std::holds_alternative<std::optional<Policy>*>(field))
    return std::string(Name(policy.recommenders().of(ResourceOf(*row))));
  return std::visit(Show{*row}, field);
}

absl::Status CheckJobPolicy(const JobPolicy& policy) {
  for (const Resource r : kResources) {
    const BoundSettings& b = policy.bounds(r);
    if (b.lower.has_value() && b.upper.has_value() && *b.lower > *b.upper) {
      return absl::InvalidArgumentError(
          StrCat(Name(r), ".lower ", GetJobSetting(StrCat(Name(r), ".lower"), policy), " is above ", Name(r),
                 ".upper ", GetJobSetting(StrCat(Name(r), ".upper"), policy)));
    }
  }
  for (const Resource r : kResources) {
    const Allocation& a = policy.allocation(r);
    if (a.applies_to == AppliesTo::kRequestOnly && a.request_share.has_value()) {
      return absl::InvalidArgumentError(
          StrCat(Name(r), ".request_share does nothing where ", Name(r),
                 ".applies_to is request_only: the limit stays; leave it empty"));
    }
  }
  if (GoesToZeroForGood(policy)) {
    return absl::InvalidArgumentError(
        "replicas.min 0 needs replicas.task_capacity and a load series: the CPU of a job that runs no task "
        "is 0, and it would never start again");
  }
  return CheckReplicaSettings(policy.replicas);
}

}  // namespace taut::brain
