// How each kind of value is read and written.
#include "server/config/config_field.h"

#include <cmath>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "common/settings/enum_name.h"

namespace taut::server {
namespace {

using enum FieldUnit;

constexpr EnumName<ClockSource> kClocks[] = {{ClockSource::kWall, "wall"},
                                             {ClockSource::kSamples, "samples"}};
constexpr EnumName<Role> kRoles[] = {{Role::kWriter, "writer"},
                                     {Role::kReader, "reader"},
                                     {Role::kPlatform, "platform"},
                                     {Role::kOperator, "operator"}};
constexpr EnumName<ActuatorKind> kActuators[] = {{ActuatorKind::kDryRun, "dry_run"},
                                                 {ActuatorKind::kAgents, "agents"},
                                                 {ActuatorKind::kKubernetes, "kubernetes"}};
constexpr EnumName<KubernetesJobs> kJobs[] = {{KubernetesJobs::kPods, "pods"},
                                              {KubernetesJobs::kContainers, "containers"}};

constexpr EnumName<KubeletUsage> kUsages[] = {{KubeletUsage::kCadvisor, "cadvisor"},
                                              {KubeletUsage::kResource, "resource"},
                                              {KubeletUsage::kMetricsApi, "metrics_api"}};
constexpr EnumName<ResizeFallback> kFallbacks[] = {{ResizeFallback::kWait, "wait"},
                                                   {ResizeFallback::kEvict, "evict"}};
constexpr EnumName<QuotaWebhook> kQuotaWebhooks[] = {
    {QuotaWebhook::kOff, "off"}, {QuotaWebhook::kWarn, "warn"}, {QuotaWebhook::kRefuse, "refuse"}};
constexpr EnumName<HeldPods> kHeldPods[] = {
    {HeldPods::kOff, "off"}, {HeldPods::kNew, "new"}, {HeldPods::kAll, "all"}};

constexpr EnumName<Tier> kTierNames[] = {{Tier::kFree, "free"},
                                         {Tier::kBatch, "batch"},
                                         {Tier::kMid, "mid"},
                                         {Tier::kProduction, "production"},
                                         {Tier::kMonitoring, "monitoring"}};
constexpr EnumName<node::MemoryProtection> kProtections[] = {{node::MemoryProtection::kNone, "none"},
                                                             {node::MemoryProtection::kLow, "low"},
                                                             {node::MemoryProtection::kMin, "min"}};

std::span<const EnumName<ClockSource>> NamesOf(ClockSource) { return kClocks; }
std::span<const EnumName<Role>> NamesOf(Role) { return kRoles; }
std::span<const EnumName<ActuatorKind>> NamesOf(ActuatorKind) { return kActuators; }
std::span<const EnumName<KubernetesJobs>> NamesOf(KubernetesJobs) { return kJobs; }
std::span<const EnumName<KubeletUsage>> NamesOf(KubeletUsage) { return kUsages; }
std::span<const EnumName<ResizeFallback>> NamesOf(ResizeFallback) { return kFallbacks; }
std::span<const EnumName<QuotaWebhook>> NamesOf(QuotaWebhook) { return kQuotaWebhooks; }
std::span<const EnumName<HeldPods>> NamesOf(HeldPods) { return kHeldPods; }
std::span<const EnumName<Tier>> NamesOf(Tier) { return kTierNames; }
std::span<const EnumName<node::MemoryProtection>> NamesOf(node::MemoryProtection) { return kProtections; }

absl::Status Bad(std::string message) { return absl::InvalidArgumentError(std::move(message)); }

std::string NumberText(const FieldSpec& s, double value) {
  if (s.unit == kBytes) return BytesText(value);
  if (s.unit == kDuration) return DurationText(std::llround(value));
  return StrCat(value);
}

absl::StatusOr<double> ParseNumber(const FieldSpec& s, std::string_view text) {
  absl::StatusOr<double> value = Bad(StrCat("\"", text, "\" is not a number"));
  if (s.unit == kBytes) {
    value = ParseBytes(text);
  } else if (s.unit == kDuration) {
    const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
    if (!seconds.ok()) return seconds.status();
    value = static_cast<double>(*seconds);
  } else if (const std::optional<double> number = ParseDouble(text); number.has_value()) {
    value = *number;
  }
  if (!value.ok()) return value;
  if (!(*value >= s.min && *value <= s.max)) {
    return Bad(StrCat(text, " is outside ", NumberText(s, s.min), " .. ", NumberText(s, s.max)));
  }
  return value;
}

// From one text; lists are taken apart before.
struct Assign {
  const FieldSpec& setting;
  std::span<const std::string> values;

  std::string_view text() const { return StripSpace(values[0]); }

  absl::Status operator()(std::string* target) const {
    const bool url = text().substr(0, 7) == "http://" || text().substr(0, 8) == "https://";
    if (setting.unit == kUrl && !text().empty() && !url) {
      return Bad(StrCat("\"", text(), "\" is not a URL; expected http://prometheus:9090"));
    }
    *target = std::string(text());
    return absl::OkStatus();
  }
  absl::Status operator()(bool* target) const {
    const bool yes = text() == "true" || text() == "yes" || text() == "on";
    if (!yes && text() != "false" && text() != "no" && text() != "off") {
      return Bad(StrCat("\"", text(), "\": expected true or false"));
    }
    *target = yes;
    return absl::OkStatus();
  }
  absl::Status operator()(double* target) const {
    const absl::StatusOr<double> value = ParseNumber(setting, text());
    if (value.ok()) *target = *value;
    return value.status();
  }
  template <typename T>
  requires std::is_integral_v<T> absl::Status operator()(T* target) const {
    const absl::StatusOr<double> value = ParseNumber(setting, text());
    if (!value.ok()) return value.status();
    if (*value != std::floor(*value)) return Bad(StrCat("\"", text(), "\" is not a whole number"));
    *target = static_cast<T>(*value);
    return absl::OkStatus();
  }
  absl::Status operator()(ServerOptions::Duration* target) const {
    const absl::StatusOr<double> value = ParseNumber(setting, text());
    if (value.ok()) *target = std::chrono::seconds(std::llround(*value));
    return value.status();
  }
  absl::Status operator()(std::vector<ListenAddress>* target) const {
    std::vector<ListenAddress> addresses;
    for (const std::string& value : values) {
      absl::StatusOr<ListenAddress> address = ParseListenAddress(StripSpace(value));
      if (!address.ok()) return address.status();
      addresses.push_back(*std::move(address));
    }
    if (addresses.empty()) return Bad("must have at least one address");
    *target = std::move(addresses);
    return absl::OkStatus();
  }
  absl::Status operator()(std::vector<std::string>* target) const {
    target->assign(values.begin(), values.end());
    return absl::OkStatus();
  }
  template <typename T>
  requires std::is_enum_v<T> absl::Status operator()(std::vector<T>* target) const {
    std::vector<T> all;
    for (const std::string& value : values) {
      if (absl::Status s = SetByName(NamesOf(T{}), StripSpace(value), all.emplace_back()); !s.ok()) return s;
    }
    if (all.empty()) return Bad("must have at least one value");
    *target = std::move(all);
    return absl::OkStatus();
  }
  template <typename T>
  requires std::is_enum_v<T> absl::Status operator()(T* target) const {
    return SetByName(NamesOf(T{}), text(), *target);
  }
};

struct Show {
  const FieldSpec& setting;

  // A text that YAML would take for something else is quoted.
  std::string operator()(const std::string* v) const {
    const bool special =
        !v->empty() && std::string_view("{[*&!|>%@`#'").find(v->front()) != std::string_view::npos;
    return special ? StrCat('"', *v, '"') : *v;
  }
  std::string operator()(const bool* v) const { return *v ? "true" : "false"; }
  std::string operator()(const double* v) const { return NumberText(setting, *v); }
  template <typename T>
  requires std::is_integral_v<T> std::string operator()(const T* v) const {
    if (setting.unit == kPlain) return std::to_string(*v);
    return NumberText(setting, static_cast<double>(*v));
  }
  std::string operator()(const ServerOptions::Duration* v) const {
    return DurationText(std::chrono::duration_cast<std::chrono::seconds>(*v).count());
  }
  std::string operator()(const std::vector<ListenAddress>* v) const {
    std::vector<std::string> texts;
    for (const ListenAddress& a : *v) texts.push_back(FormatAddress(a));
    return StrCat("[", Join(texts, ", "), "]");
  }
  std::string operator()(const std::vector<std::string>* v) const { return StrCat("[", Join(*v, ", "), "]"); }
  template <typename T>
  requires std::is_enum_v<T> std::string operator()(const std::vector<T>* v) const {
    if (v->size() == 1) return std::string(NameIn(NamesOf(T{}), v->front()));
    std::vector<std::string> names;
    for (const T value : *v) names.emplace_back(NameIn(NamesOf(T{}), value));
    return StrCat("[", Join(names, ", "), "]");
  }
  template <typename T>
  requires std::is_enum_v<T> std::string operator()(const T* v) const { return NameIn(NamesOf(T{}), *v); }
};

}  // namespace

absl::Status SetField(const FieldSpec& spec, const ConfigField& field, std::span<const std::string> values) {
  const bool list = std::holds_alternative<std::vector<ListenAddress>*>(field) ||
                    std::holds_alternative<std::vector<std::string>*>(field) ||
                    std::holds_alternative<std::vector<ActuatorKind>*>(field);
  const std::string none;
  if (values.empty() && !list) values = std::span(&none, 1);
  absl::Status s = values.size() == 1 || list ? std::visit(Assign{spec, values}, field)
                                              : Bad("must be one value, not a list");
  return s.ok() ? s : Bad(StrCat(spec.key, ": ", Message(s)));
}

std::string ShowField(const FieldSpec& spec, const ConfigField& field) {
  return std::visit(Show{spec}, field);
}

std::vector<std::string> ShownItems(std::string_view shown) {
  const bool quoted = shown.size() >= 2 && shown.front() == '"' && shown.back() == '"';
  if (quoted) return {std::string(shown.substr(1, shown.size() - 2))};
  if (shown.size() < 2 || shown.front() != '[' || shown.back() != ']') return {std::string(shown)};
  std::vector<std::string> items;
  const std::string_view inner = shown.substr(1, shown.size() - 2);
  if (inner.empty()) return items;
  for (const std::string_view item : Split(inner, ',')) items.emplace_back(StripSpace(item));
  return items;
}

}  // namespace taut::server
