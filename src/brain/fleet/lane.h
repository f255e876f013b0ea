// One recommender for one resource of one job, with the limit in force and the last recommendation. The daemon
// and replays step the same lanes, with different sources of signals and different consumers of decisions.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "brain/recommend/recommender.h"

namespace taut::brain {

// Owns a recommender and its last recommendation. Not thread-safe. Between Sleep and Wake the lane has no
// recommender.
class Lane {
 public:
  // `cap_at_owner`: true if limits never exceed the owner's limit.
  explicit Lane(std::unique_ptr<Recommender> recommender, bool cap_at_owner = false)
      : recommender_(std::move(recommender)), cap_at_owner_(cap_at_owner) {}

  // Returns the limit in force: the recommendation, or `owner` if there is none. With cap_at_owner, at most
  // `owner`. Absent: unlimited.
  std::optional<double> LimitInForce(std::optional<double> owner) const {
    const std::optional<double> ours = recommended();
    if (!ours.has_value()) return owner;
    return cap_at_owner_ && owner.has_value() ? std::min(*ours, *owner) : ours;
  }
  // Starts a day. Call between two days, after the fleet models have learnt from the day before.
  void StartDay(int32_t day) {
    recommender_->StartDay(day);
    Take(recommender_->Recommend(WindowId{day * kWindowsPerDay}));
  }
  // Ends a day after the day's last window. Appends the rows from which the fleet models learn.
  void EndDay(int32_t day, FleetRows& rows) { recommender_->EndDay(day, rows); }
  // Observes a closed window and recommends a limit for the next window. If the signal has no limit in force,
  // LimitInForce supplies it.
  void CloseWindow(const Signal& signal) {
    Signal seen = signal;
    if (!seen.limit.has_value()) seen.limit = LimitInForce(signal.owner_limit);
    recommender_->Observe(seen);
    Take(recommender_->Recommend(signal.window.next()));
  }
  // Observes an OOM kill immediately; the new limit is in force from the next window on.
  void Oom(const OomEvent& event) {
    recommender_->ObserveOom(event);
    Take(recommender_->Recommend(event.window.next()));
  }

  // Uses the answer of an external recommender from window `next` on.
  void TakeExternal(const ExternalLimit& limit, WindowId next) {
    recommender_->TakeExternal(limit);
    Take(recommender_->Recommend(next));
  }

  // Returns the recommendation of the job's own recommender, also while an answer of an external one holds.
  std::optional<double> own_recommended() const { return recommender_->OwnLimit(recommended()); }

  // Computes the recommendation for window `next` again, after a change of the bounds.
  void RecommendAgain(WindowId next) { Take(recommender_->Recommend(next)); }

  // Saves the recommender's state and the last recommendation. Load reads the bytes that Save wrote for a lane
  // with equal configuration.
  void Save(ByteWriter& out) const {
    out.Put(recommended_);
    recommender_->Save(out);
  }
  absl::Status Load(ByteReader& in) {
    const auto recommended = in.Get<double>();
    if (absl::Status s = recommender_->Load(in); !s.ok()) return s;
    recommended_ = recommended >= 0 ? recommended : kNone;
    return absl::OkStatus();
  }

  // Releases the recommender and returns the bytes that Save writes. Until Wake, only recommended(),
  // LimitInForce() and sleeps() may be called.
  std::string Sleep() {
    std::string state;
    ByteWriter out(&state);
    Save(out);
    recommender_.reset();
    return state;
  }
  // Restores a lane from `state`. `fresh`: an equally configured recommender. Returns DataLoss or InvalidArgument
  // if `state` cannot be read; the caller must then replace the lane.
  absl::Status Wake(std::unique_ptr<Recommender> fresh, std::string_view state) {
    recommender_ = std::move(fresh);
    ByteReader in(state);
    if (absl::Status s = Load(in); !s.ok()) return s;
    return in.remaining() == 0 ? absl::OkStatus() : absl::DataLossError("a lane with trailing bytes");
  }
  bool sleeps() const { return recommender_ == nullptr; }
  // Reads the recommendation from a saved state, without a recommender. The caller keeps the state for Wake.
  absl::Status LoadAsleep(std::string_view state) {
    ByteReader in(state);
    const auto recommended = in.Get<double>();
    recommended_ = recommended >= 0 ? recommended : kNone;
    return in.status("a lane");
  }

  // Returns the last recommendation; absent: none, so the owner's limit applies.
  std::optional<double> recommended() const {
    return recommended_ >= 0 ? std::optional(recommended_) : std::nullopt;
  }
  const Recommender& recommender() const { return *recommender_; }
  Recommender& recommender() { return *recommender_; }

 private:
  static constexpr double kNone = -1;
  void Take(std::optional<double> recommended) { recommended_ = recommended.value_or(kNone); }

  std::unique_ptr<Recommender> recommender_;
  double recommended_ = kNone;  // recommended limit; negative: none (std::optional needs 8 more bytes)
  bool cap_at_owner_;
};

}  // namespace taut::brain
