// Recommenders round a recommender: margin, hold, OOM floor, rounding and bounds. Each does one thing, adds
// its step to the reason and passes the rest through.
#pragma once

#include <array>
#include <memory>

#include "brain/recommend/recommender.h"
#include "brain/recommend/settings.h"

namespace taut::brain {

// Passes everything through; the base of the wrappers below.
class RecommenderWrapper : public Recommender {
 public:
  explicit RecommenderWrapper(std::unique_ptr<Recommender> inner) : inner_(std::move(inner)) {}
  void Observe(const Signal& signal) override { inner_->Observe(signal); }
  void ObserveOom(const OomEvent& event) override { inner_->ObserveOom(event); }
  void TakeExternal(const ExternalLimit& limit) override { inner_->TakeExternal(limit); }
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

// limit * (1 + margin(limit) * scale).
std::unique_ptr<Recommender> WithMargin(std::unique_ptr<Recommender> inner, MarginSchedule schedule,
                                        double scale);

inline constexpr int kMaxHoldWindows = 16;
// The highest recommendation made in the last `windows` (<= kMaxHoldWindows) windows, this one included.
std::unique_ptr<Recommender> WithHold(std::unique_ptr<Recommender> inner, int windows);

// After an OOM at limit L the recommendation is at least max(ratio * L, L + bytes) for hold_s
// (docs/references.md, C6), and the owner's limit no longer stands in for a missing one. Memory only: wrap no
// CPU recommender in it.
std::unique_ptr<Recommender> WithOomFloor(std::unique_ptr<Recommender> inner, OomSettings settings);

struct FloorSettings {
  double least = 0;         // cores or bytes
  bool keep_start = false;  // not below what the program used in the first windows after a start
  // Of a job without kYoungDays of history, where the recommender itself forecasts no risk: the limit is
  // wider by twice this share on the second day, by this until its fourth, then by half of it.
  double young_margin = 0;
  // History without which the recommender gives no limit: until then there is a provisional one. 0: none.
  double min_history_s = 0;
  static constexpr int kStartWindows = 3;
  static constexpr int32_t kYoungDays = 8;
};
// Makes the provisional limit, too.
// At least `least` and, with keep_start, the highest usage of the first kStartWindows windows after each of
// the last two starts; but never above the owner's limit for these reasons. A start is the first window
// measured, or the first after two that were not: of a job of many tasks, that all of them were absent.
std::unique_ptr<Recommender> WithFloor(std::unique_ptr<Recommender> inner, FloorSettings settings);

// Rounds up to the granularity, then holds within the bounds (the bounds win).
std::unique_ptr<Recommender> WithBounds(std::unique_ptr<Recommender> inner, BoundSettings bounds);

// What an OOM at `limit` injects as the usage there would have been: max(ratio * limit, limit + bytes).
double OomBump(double limit, const OomSettings& settings);

}  // namespace taut::brain
