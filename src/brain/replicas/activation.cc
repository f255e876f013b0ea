#include "brain/replicas/activation.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "brain/replicas/policy_wrapper.h"
#include "brain/replicas/stored_values.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

// Marks this wrapper's part of a state. Another state may have the count of an external answer at this position,
// but no such count equals the mark.
constexpr uint32_t kMark = 0xAC71FA7E;

double Seconds(int64_t us) { return static_cast<double>(us) / kMicrosPerSecond; }

class ActivationPolicy final : public ReplicaPolicyWrapper {
 public:
  ActivationPolicy(std::unique_ptr<ReplicaPolicy> inner, Activation how, const KedaSettings& settings,
                   const ReplicaBounds& bounds)
      : ReplicaPolicyWrapper(std::move(inner)), how_(how), settings_(settings), bounds_(bounds) {}

  int Decide(const LoadSample& sample) override {
    if (how_ == Activation::kOurs && bounds_.min > 0) {
      step_ = Step::kRunning;
      return inner().Decide(sample);
    }
    return decided_ = DecideOf(sample);
  }
  void Explain(Reason& reason) const override {
    if (step_ == Step::kRunning) {
      inner().Explain(reason);
    } else {
      Reason of_inner;
      inner().Explain(of_inner);
      reason.recommender = of_inner.recommender;
      reason.sentence = Sentence();
    }
    if (how_ == Activation::kKeda) reason.recommender = "keda";
  }
  std::unique_ptr<ReplicaPolicy> Clone() const override {
    auto copy = std::make_unique<ActivationPolicy>(inner().Clone(), how_, settings_, bounds_);
    copy->active_at_ = active_at_;
    copy->step_ = step_;
    copy->decided_ = decided_;
    return copy;
  }
  void Save(ByteWriter& out) const override {
    inner().Save(out);
    if (how_ == Activation::kOurs) {
      if (bounds_.min > 0) return;
      out.Put(kMark);
    }
    PutOptional(active_at_.has_value() ? std::optional(active_at_->us) : std::nullopt, out);
    out.Put(static_cast<uint8_t>(step_));
    out.Put(decided_);
  }
  absl::Status Load(ByteReader& in) override {
    absl::StatusOr<std::unique_ptr<ReplicaPolicy>> loaded = LoadedInner(in);
    if (!loaded.ok()) return loaded.status();
    std::optional<Timestamp> active_at;
    Step step = Step::kRunning;
    int decided = 0;
    if (how_ == Activation::kKeda || TakeMark(in)) {
      StoredValues values(in);
      active_at = values.OptionalTime();
      step = static_cast<Step>(values.Within<uint8_t>(0, static_cast<uint8_t>(Step::kRunning)));
      decided = values.Count();
      if (absl::Status s = values.status("the activation of a job"); !s.ok()) return s;
    }
    ReplaceInner(*std::move(loaded));
    active_at_ = active_at;
    step_ = step;
    decided_ = decided;
    return absl::OkStatus();
  }
  size_t state_bytes() const override { return sizeof(*this) + inner().state_bytes(); }
  std::string NoNumber() const override { return step_ == Step::kRunning ? inner().NoNumber() : ""; }
  bool reads_load() const override {
    return how_ == Activation::kKeda || bounds_.min == 0 || inner().reads_load();
  }
  std::vector<std::string> Missing(const LoadSample& sample) const override {
    std::vector<std::string> missing = inner().Missing(sample);
    if (reads_load() && !inner().reads_load() && !sample.load.has_value())
      missing.insert(missing.begin(), "the load");
    return missing;
  }

 private:
  enum class Step : uint8_t { kHeld, kAtZero, kActivated, kToZero, kRunning };

  static bool TakeMark(ByteReader& in) {
    ByteReader ahead = in;
    if (ahead.remaining() < sizeof(kMark) || ahead.Get<uint32_t>() != kMark) return false;
    in = ahead;
    return true;
  }
  int DecideOf(const LoadSample& sample) {
    const int current = sample.count();
    if (!sample.load.has_value() && (current == 0 || how_ == Activation::kKeda)) {
      step_ = Step::kHeld;
      return bounds_.Clamp(current);
    }
    const bool active = sample.load.has_value() && *sample.load > settings_.activation;
    // An absent load may be above the threshold, and therefore counts as active.
    if (active || !sample.load.has_value() || !active_at_.has_value()) active_at_ = sample.at;
    const double idle_s = Seconds(sample.at.us - active_at_->us);
    const bool to_zero =
        sample.load.has_value() && !active && bounds_.min == 0 && idle_s >= settings_.cooldown_s;
    int wanted = 1;
    if (how_ == Activation::kOurs) {
      LoadSample seen = sample;
      if (current == 0) seen.ready = 1;
      wanted = inner().Decide(seen);
    } else if (current > 0 && !to_zero) {
      wanted = inner().Decide(sample);
    }
    if (current == 0) {
      step_ = active ? Step::kActivated : Step::kAtZero;
      return bounds_.Clamp(active ? wanted : 0);
    }
    step_ = to_zero ? Step::kToZero : Step::kRunning;
    return to_zero ? 0 : wanted;
  }
  std::string Sentence() const {
    switch (step_) {
      case Step::kHeld:
        return fmt::format("The load was not measured, so the count stays {}.", decided_);
      case Step::kAtZero:
        return fmt::format("The load is not above the activation threshold {:g}: no task runs.",
                           settings_.activation);
      case Step::kActivated:
        return fmt::format("The load is above the activation threshold {:g}: the job starts.",
                           settings_.activation);
      case Step::kToZero:
        return fmt::format("The load was not above {:g} for {:g} s: the job goes to zero.",
                           settings_.activation, settings_.cooldown_s);
      case Step::kRunning:
        break;
    }
    return "";
  }

  Activation how_;
  KedaSettings settings_;
  ReplicaBounds bounds_;
  std::optional<Timestamp> active_at_;  // last time at which the load was above the threshold or unknown
  Step step_ = Step::kHeld;
  int decided_ = 0;
};

}  // namespace

ReplicaBounds InnerBounds(ReplicaBounds bounds) {
  bounds.min = std::max(bounds.min, 1);
  bounds.max = std::max(bounds.max, 1);
  return bounds;
}

std::unique_ptr<ReplicaPolicy> WithActivation(std::unique_ptr<ReplicaPolicy> inner, Activation how,
                                              const KedaSettings& settings, const ReplicaBounds& bounds) {
  return std::make_unique<ActivationPolicy>(std::move(inner), how, settings, bounds);
}

}  // namespace taut::brain
