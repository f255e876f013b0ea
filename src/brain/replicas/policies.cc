#include "brain/replicas/policies.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "brain/replicas/activation.h"
#include "brain/replicas/autopilot.h"
#include "brain/replicas/external_count.h"
#include "brain/replicas/forecast.h"
#include "brain/replicas/function_policy.h"
#include "brain/replicas/hpa.h"
#include "brain/replicas/scheduled.h"
#include "brain/replicas/stored_values.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/signal_name.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

// Always decides on the configured count, or the count for the highest load of the first days.
class StaticPolicy final : public ReplicaPolicy {
 public:
  explicit StaticPolicy(const ReplicaSettings& settings) : settings_(settings) {}

  int Decide(const LoadSample& sample) override {
    if (!begin_.has_value()) begin_ = sample.at;
    const double age_s = static_cast<double>(sample.at.us - begin_->us) / kMicrosPerSecond;
    if (settings_.fixed.count > 0) {
      count_ = settings_.fixed.count;
    } else if (sample.load.has_value() && age_s < settings_.fixed.peak_days * kDaySeconds) {
      const double need = std::ceil(*sample.load / (settings_.max_utilization * sample.capacity) - 1e-9);
      count_ = std::max({count_, sample.count(), settings_.bounds.Clamp(need)});
    }
    return count_ = settings_.bounds.Clamp(count_ > 0 ? count_ : sample.count());
  }
  // A fixed count reads no input.
  std::vector<std::string> Missing(const LoadSample& sample) const override {
    return settings_.fixed.count > 0 ? std::vector<std::string>() : ReplicaPolicy::Missing(sample);
  }
  void Explain(Reason& reason) const override {
    reason.recommender = "static";
    reason.sentence =
        settings_.fixed.count > 0
            ? fmt::format("The count is set to {}.", count_)
            : fmt::format("{}: enough for the highest load of the first {:g} days.",
                          Counted(static_cast<uint64_t>(count_), "task"), settings_.fixed.peak_days);
  }
  std::unique_ptr<ReplicaPolicy> Clone() const override { return std::make_unique<StaticPolicy>(*this); }
  void Save(ByteWriter& out) const override {
    PutOptional(begin_.has_value() ? std::optional(begin_->us) : std::nullopt, out);
    out.Put(count_);
  }
  absl::Status Load(ByteReader& in) override {
    StoredValues values(in);
    const std::optional<Timestamp> begin = values.OptionalTime();
    const int count = values.Count();
    if (absl::Status s = values.status("static"); !s.ok()) return s;
    begin_ = begin;
    count_ = count;
    return absl::OkStatus();
  }
  size_t state_bytes() const override { return sizeof(*this); }

 private:
  ReplicaSettings settings_;
  std::optional<Timestamp> begin_;
  int count_ = 0;
};

constexpr uint8_t kPolicyStateVersion = 1;

// If replicas.min is 0, every policy reads the settings "keda".
constexpr std::string_view kStaticGroups[] = {"static", "keda"};
constexpr std::string_view kAutopilotGroups[] = {"autopilot", "keda"};
constexpr std::string_view kHpaGroups[] = {"hpa", "keda"};
constexpr std::string_view kFunctionGroups[] = {"function", "autopilot", "keda"};
constexpr std::string_view kForecastGroups[] = {"forecast", "keda"};
constexpr std::string_view kAutopilotSweep[] = {"autopilot.target=0.5,0.6,0.7,0.8",
                                                "autopilot.statistic=max,p95"};
constexpr std::string_view kHpaSweep[] = {"hpa.target=0.3,0.4,0.45,0.5,0.55,0.6,0.65,0.7,0.75"};
constexpr std::string_view kForecastSweep[] = {
    "forecast.overloaded=0.0002,0.0005,0.001,0.002,0.005,0.01,0.02,0.05"};

double OfMaximum(const ReplicaSettings& s) { return s.max_utilization; }
double OfAutopilot(const ReplicaSettings& s) { return s.autopilot.target; }
double OfHpa(const ReplicaSettings& s) { return std::min(s.hpa.target, s.max_utilization); }

using Made = std::unique_ptr<ReplicaPolicy>;

// Returns a policy for at least one task, with an activation wrapper that allows 0 tasks if replicas.min is 0.
template <typename Make>
Made MayGoToZero(const ReplicaSettings& settings, Activation how, Make make) {
  ReplicaSettings inner = settings;
  inner.bounds = InnerBounds(settings.bounds);
  return WithActivation(make(inner), how, settings.keda, settings.bounds);
}
template <typename T>
Made OfSettings(const ReplicaSettings& settings) {
  return MayGoToZero(settings, Activation::kOurs,
                     [](const ReplicaSettings& s) -> Made { return std::make_unique<T>(s); });
}
Made MakeAutopilot(const ReplicaSettings& settings) {
  return MayGoToZero(settings, Activation::kOurs, [](const ReplicaSettings& s) -> Made {
    return std::make_unique<AutopilotReplicaPolicy>(s.autopilot, s.bounds);
  });
}
template <Activation how>
Made MakeHpa(const ReplicaSettings& settings) {
  return MayGoToZero(settings, how, [](const ReplicaSettings& s) -> Made {
    return std::make_unique<HpaPolicy>(s.hpa, s.bounds);
  });
}

constexpr ReplicaPolicyInfo kPolicies[] = {
    {"static",
     "a fixed count: static.count, or enough for the peak of the first days",
     OfSettings<StaticPolicy>,
     kStaticGroups,
     OfMaximum,
     {}},
    {"autopilot", "Autopilot's highest (or p95) load of the last 72 h over a target utilisation, smoothed",
     MakeAutopilot, kAutopilotGroups, OfAutopilot, kAutopilotSweep},
    {"hpa", "what the Kubernetes HorizontalPodAutoscaler (v2) would set by utilisation",
     MakeHpa<Activation::kOurs>, kHpaGroups, OfHpa, kHpaSweep},
    {"keda",
     "hpa behind KEDA's activation threshold and cool-down; to zero with replicas.min 0",
     MakeHpa<Activation::kKeda>,
     kHpaGroups,
     OfHpa,
     {}},
    {"function",
     "function.target, the owner's own expression of the load and named signals, smoothed",
     OfSettings<FunctionPolicy>,
     kFunctionGroups,
     OfMaximum,
     {}},
    {"forecast", "the load when a task started now is ready, at a target share of overloaded minutes",
     OfSettings<ForecastPolicy>, kForecastGroups, OfMaximum, kForecastSweep},
};

}  // namespace

std::optional<int> ReplicaPolicy::TakeExternal(std::optional<ExternalTasks> /*answer*/) {
  return std::nullopt;
}

std::optional<LoadBand> ReplicaPolicy::Forecast() const { return std::nullopt; }

std::string ReplicaPolicy::NoNumber() const { return ""; }

std::span<const std::string> ReplicaPolicy::signals() const { return {}; }

bool ReplicaPolicy::reads_load() const { return true; }

std::vector<std::string> ReplicaPolicy::Missing(const LoadSample& sample) const {
  std::vector<std::string> missing;
  if (reads_load() && !sample.load.has_value()) missing.emplace_back("the load");
  const std::span<const std::string> names = signals();
  for (size_t i = 0; i < names.size(); ++i) {
    const double value = i < sample.signals.size() ? sample.signals[i] : -1;
    const bool is_measured = std::isfinite(value) && value >= 0;
    const bool may_lack =
        sample.count() == 0 && std::ranges::find(kOwnSignals, names[i]) != kOwnSignals.end();
    if (!is_measured && !may_lack) missing.push_back(names[i]);
  }
  return missing;
}

std::span<const ReplicaPolicyInfo> ReplicaPolicies() { return kPolicies; }

absl::StatusOr<const ReplicaPolicyInfo*> FindReplicaPolicy(std::string_view name) {
  return RowNamed("replica policy", kPolicies, name);
}

std::unique_ptr<ReplicaPolicy> NewReplicaPolicy(const ReplicaPolicyInfo& info,
                                                const ReplicaSettings& settings) {
  std::unique_ptr<ReplicaPolicy> policy = WithExternalCount(info.make(settings), settings.bounds);
  if (settings.schedule.empty()) return policy;
  return WithSchedule(std::move(policy), settings.schedule, settings.bounds);
}

std::string SaveReplicaPolicy(std::string_view name, const ReplicaPolicy& policy) {
  std::string bytes;
  ByteWriter out(&bytes);
  out.Put(kPolicyStateVersion);
  out.PutString(name);
  policy.Save(out);
  return bytes;
}

absl::StatusOr<std::unique_ptr<ReplicaPolicy>> LoadReplicaPolicy(std::string_view bytes,
                                                                 const ReplicaSettings& settings) {
  ByteReader in(bytes);
  const auto version = in.Get<uint8_t>();
  const std::string_view name = in.GetString();
  if (in.failed()) return in.status("a replica policy");
  if (version != kPolicyStateVersion)
    return absl::InvalidArgumentError("a state of another version of the program");
  const auto info =
      std::ranges::find_if(kPolicies, [name](const ReplicaPolicyInfo& p) { return p.name == name; });
  if (info == std::end(kPolicies)) return absl::NotFoundError(StrCat("no replica policy \"", name, "\""));
  std::unique_ptr<ReplicaPolicy> policy = NewReplicaPolicy(*info, settings);
  if (absl::Status s = policy->Load(in); !s.ok()) return s;
  if (in.remaining() != 0) return absl::DataLossError(StrCat(name, ": trailing bytes"));
  return policy;
}

}  // namespace taut::brain
