#include "brain/replicas/scheduled.h"

#include <algorithm>
#include <utility>

#include "brain/replicas/policy_wrapper.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

class ScheduledPolicy final : public ReplicaPolicyWrapper {
 public:
  ScheduledPolicy(std::unique_ptr<ReplicaPolicy> inner, ReplicaSchedule schedule, const ReplicaBounds& bounds)
      : ReplicaPolicyWrapper(std::move(inner)), schedule_(std::move(schedule)), bounds_(bounds) {}

  int Decide(const LoadSample& sample) override {
    wanted_ = inner().Decide(sample);
    limits_ = schedule_.At(sample.at);
    return decided_ = Limited(wanted_);
  }
  std::optional<int> TakeExternal(std::optional<ExternalTasks> answer) override {
    const std::optional<int> wanted = inner().TakeExternal(std::move(answer));
    if (!wanted.has_value()) return wanted;
    wanted_ = *wanted;
    return decided_ = Limited(wanted_);
  }
  void Explain(Reason& reason) const override {
    inner().Explain(reason);
    if (decided_ == wanted_) return;
    const bool raised = decided_ > wanted_;
    reason.sentence += fmt::format(" The schedule asks for at {} {}: \"{}\".", raised ? "least" : "most",
                                   decided_, raised ? limits_.min_rule : limits_.max_rule);
    reason.facts.push_back({"count without the schedule", static_cast<double>(wanted_), "tasks"});
  }
  std::unique_ptr<ReplicaPolicy> Clone() const override {
    auto copy = std::make_unique<ScheduledPolicy>(inner().Clone(), schedule_, bounds_);
    copy->limits_ = limits_;  // limits_ refers to rule texts that both objects share
    copy->wanted_ = wanted_;
    copy->decided_ = decided_;
    return copy;
  }
  size_t state_bytes() const override { return sizeof(*this) + inner().state_bytes(); }

 private:
  int Limited(int count) const {
    const int least = bounds_.Clamp(limits_.min.value_or(bounds_.min));
    const int most = bounds_.Clamp(limits_.max.value_or(bounds_.max));
    return std::clamp(count, least, most);
  }

  ReplicaSchedule schedule_;
  ReplicaBounds bounds_;
  ReplicaSchedule::Limits limits_;
  int wanted_ = 0, decided_ = 0;
};

}  // namespace

std::unique_ptr<ReplicaPolicy> WithSchedule(std::unique_ptr<ReplicaPolicy> inner, ReplicaSchedule schedule,
                                            const ReplicaBounds& bounds) {
  return std::make_unique<ScheduledPolicy>(std::move(inner), std::move(schedule), bounds);
}

}  // namespace taut::brain
