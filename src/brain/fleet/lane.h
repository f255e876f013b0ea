// One job, one resource, one recommender: the limit in force and how the next one comes about. The daemon and
// the replay both step lanes; they differ in where the signals come from and where the decisions go.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "brain/recommend/recommender.h"

namespace taut::brain {

class Lane {
 public:
  // With `cap_at_owner` no limit is above the owner's.
  explicit Lane(std::unique_ptr<Recommender> recommender, bool cap_at_owner = false)
      : recommender_(std::move(recommender)), cap_at_owner_(cap_at_owner) {}

  // The limit in force in a window whose owner's limit is `owner`: the recommendation if there is one, else
  // the owner's. Absent: unlimited.
  std::optional<double> LimitInForce(std::optional<double> owner) const {
    const std::optional<double> ours = recommended();
    if (!ours.has_value()) return owner;
    return cap_at_owner_ && owner.has_value() ? std::min(*ours, *owner) : ours;
  }
  // Between two days, after the fleet models have taken in the day before.
  void StartDay(int32_t day) {
    recommender_->StartDay(day);
    Take(recommender_->Recommend(WindowId{day * kWindowsPerDay}));
  }
  // After the day's last window: what the job's day teaches the fleet is appended to `rows`.
  void EndDay(int32_t day, FleetRows& rows) { recommender_->EndDay(day, rows); }
  // Takes in a closed window and decides the limit from the next window on. Where the signal does not say
  // which limit was in force it is LimitInForce.
  void CloseWindow(const Signal& signal) {
    Signal seen = signal;
    if (!seen.limit.has_value()) seen.limit = LimitInForce(signal.owner_limit);
    recommender_->Observe(seen);
    Take(recommender_->Recommend(signal.window.next()));
  }
  // Takes in an OOM at once; the new limit is in force from the next window on.
  void Oom(const OomEvent& event) {
    recommender_->ObserveOom(event);
    Take(recommender_->Recommend(event.window.next()));
  }

  // Takes in an answer of an external recommender, for window `next` and later ones.
  void TakeExternal(const ExternalLimit& limit, WindowId next) {
    recommender_->TakeExternal(limit);
    Take(recommender_->Recommend(next));
  }

  // By what is known now, for window `next`: with other bounds than those it was recommended with.
  void RecommendAgain(WindowId next) { Take(recommender_->Recommend(next)); }

  // The state with the last recommendation. Load takes what Save of an equally configured lane wrote.
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

  // Gives up the recommender for its state as Save writes it. Until Wake only recommended() and
  // LimitInForce() may be asked.
  std::string Sleep() {
    std::string state;
    ByteWriter out(&state);
    Save(out);
    recommender_.reset();
    return state;
  }
  // `fresh`: equally configured. After an error it is as new.
  absl::Status Wake(std::unique_ptr<Recommender> fresh, std::string_view state) {
    recommender_ = std::move(fresh);
    ByteReader in(state);
    if (absl::Status s = Load(in); !s.ok()) return s;
    return in.remaining() == 0 ? absl::OkStatus() : absl::DataLossError("a lane with trailing bytes");
  }
  bool sleeps() const { return recommender_ == nullptr; }
  // What a lane that sleeps has of a state that Save wrote; the state itself is for Wake, which reads the
  // rest of it.
  absl::Status LoadAsleep(std::string_view state) {
    ByteReader in(state);
    const auto recommended = in.Get<double>();
    recommended_ = recommended >= 0 ? recommended : kNone;
    return in.status("a lane");
  }

  // The last recommendation; absent: the owner's limit stands.
  std::optional<double> recommended() const {
    return recommended_ >= 0 ? std::optional(recommended_) : std::nullopt;
  }
  const Recommender& recommender() const { return *recommender_; }
  Recommender& recommender() { return *recommender_; }

 private:
  static constexpr double kNone = -1;
  void Take(std::optional<double> recommended) { recommended_ = recommended.value_or(kNone); }

  std::unique_ptr<Recommender> recommender_;
  double recommended_ = kNone;  // no optional: there are two lanes a job
  bool cap_at_owner_;
};

}  // namespace taut::brain
