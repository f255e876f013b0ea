// Wrappers around a recommender: margin, hold, OOM floor, floor, rounding and bounds. Each wrapper changes the
// limit in one way, adds its step to the reason and forwards all other calls.
#pragma once

#include <array>
#include <memory>

#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"

namespace taut::brain {

// Forwards all calls; the base of the wrappers below.
class RecommenderWrapper : public Recommender {
 public:
  explicit RecommenderWrapper(std::unique_ptr<Recommender> inner) : inner_(std::move(inner)) {}
  void Observe(const Signal& signal) override { inner_->Observe(signal); }
  void ObserveOom(const OomEvent& event) override { inner_->ObserveOom(event); }
  void TakeExternal(const ExternalLimit& limit) override { inner_->TakeExternal(limit); }
  std::optional<double> OwnLimit(std::optional<double> recommended) const override {
    return inner_->OwnLimit(recommended);
  }
  void TakeTaskSize(const TaskSize& size) override { inner_->TakeTaskSize(size); }
  std::optional<ProvisionalLimit> Provisional(WindowId next) const override {
    return inner_->Provisional(next);
  }
  void StartDay(int32_t day) override { inner_->StartDay(day); }
  void EndDay(int32_t day, FleetRows& rows) override { inner_->EndDay(day, rows); }
  std::optional<double> OverrunChance(double limit) const override { return inner_->OverrunChance(limit); }
  void UpdateRisk(double limit, LimitRisk& risk) const override { inner_->UpdateRisk(limit, risk); }
  size_t state_bytes() const override { return sizeof(*this) + inner_->state_bytes(); }
  void Save(ByteWriter& out) const override { inner_->Save(out); }
  absl::Status Load(ByteReader& in) override { return inner_->Load(in); }

 protected:
  Recommender& inner() { return *inner_; }
  const Recommender& inner() const { return *inner_; }

 private:
  std::unique_ptr<Recommender> inner_;
};

// Recommends limit * (1 + margin(limit) * scale).
std::unique_ptr<Recommender> WithMargin(std::unique_ptr<Recommender> inner, MarginSchedule schedule,
                                        double scale);

inline constexpr int kMaxHoldWindows = 16;
// Recommends the highest recommendation of the last `windows` (<= kMaxHoldWindows) windows, including the
// current window.
std::unique_ptr<Recommender> WithHold(std::unique_ptr<Recommender> inner, int windows);

// After an OOM kill at limit L, recommends at least max(ratio * L, L + bytes) for hold_s (docs/references.md,
// C6), even where `inner` recommends nothing. For memory only.
std::unique_ptr<Recommender> WithOomFloor(std::unique_ptr<Recommender> inner, OomSettings settings);

struct FloorSettings {
  double least = 0;         // lower bound, cores or bytes
  bool keep_start = false;  // true if the limit is at least the usage in the first windows after a start
  // Share by which the limit is raised for a job with less than kYoungDays of history and no risk forecast of
  // the recommender. The share is doubled for the first two days, full for the next two days, then halved.
  double young_margin = 0;
  // History that the recommender requires before it yields a limit, in seconds; until then this wrapper yields a
  // provisional limit. 0: none.
  double min_history_s = 0;
  static constexpr int kStartWindows = 3;
  static constexpr int32_t kYoungDays = 8;
};
// Recommends at least `least` and, with keep_start, the highest usage of the first kStartWindows windows after
// each of the last two starts. These floors never exceed the owner's limit. A start is the first measured window,
// or the first window after at least two windows without any task. Also yields the provisional limit.
std::unique_ptr<Recommender> WithFloor(std::unique_ptr<Recommender> inner, FloorSettings settings);

// Rounds up to the granularity, then applies the bounds.
std::unique_ptr<Recommender> WithBounds(std::unique_ptr<Recommender> inner, BoundSettings bounds);

// Returns the assumed need of a task that was killed at `limit`: max(ratio * limit, limit + bytes).
double OomBump(double limit, const OomSettings& settings);
// Returns the limit after usage above the limit in force: OomBump(usage) for resources that kill, ratio * usage
// for resources that throttle.
double LimitAfterOverrun(double usage, Resource resource, const OomSettings& settings);

}  // namespace taut::brain
