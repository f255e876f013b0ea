// The part of the boosted recommender (brain/recommend/boosted.h) that is learnt from all jobs of a fleet: the
// forest that forecasts the usage of the coming hours, and the price of harm at which the target share is met.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/recommend/boosted_decision.h"
#include "brain/recommend/fleet_share.h"
#include "brain/recommend/settings.h"
#include "common/base/bytes.h"
#include "common/boosting/boosted_forest.h"
#include "common/model/resource.h"

namespace taut::brain {

// A forest that is due, as a value: any thread may train it while the fleet goes on learning.
struct BoostedTraining {
  Resource resource;
  BoostedSettings settings;
  int32_t day = 0;  // day at whose end the forest was due
  BottomK<BoostedLesson> sample;

  absl::StatusOr<BoostedForest> Train();
};

// The model shared by all jobs of a fleet for one resource. Read-only except for CloseDay and Adopt, which one
// thread calls while no other thread reads.
//
// A forest that is due at the end of day d is trained from the sample as it is then, and comes into force at the
// end of day d + 1. Results do not depend on who trains it in between, or on how long the training takes.
class BoostedFleet {
 public:
  BoostedFleet(Resource resource, const BoostedSettings& settings, BoostedTarget target);

  // Learns from the day that ended. Trains the forest that was due if Adopt has not been called.
  void CloseDay(BoostedShare share);
  // Returns an upper bound of the keys of lessons that can still enter the sample.
  uint64_t sample_bound() const { return sample_.bound(); }

  // Returns a copy of the sample from the end of a day at which a new forest is due until Adopt; nullopt
  // otherwise. O(sample).
  std::optional<BoostedTraining> DueTraining() const;
  // Stores the result of a training for the next CloseDay. After an error the forest in force stays. Ignores the
  // result if `day` is not the day of the training that is due.
  void Adopt(int32_t day, absl::StatusOr<BoostedForest> forest);
  // The error of the last training; OK if it succeeded.
  const absl::Status& training_status() const { return training_status_; }

  // Returns false while the fleet has too little history for a forecast.
  bool ready() const { return !forest_.empty() && price_ > 0; }
  // Returns the forecast for a job. REQUIRES: !forest().empty().
  BoostedForecast Forecast(const BoostedCase& job) const;

  // Price of harm for one period: bytes per OOM of a job, or cores per core of work above the limits. Valid if
  // ready().
  double price() const { return price_; }
  double order() const { return target_.order; }
  // Highest harm that any job's limit may have: a chance within one period; no bound for resources that throttle.
  double most_harm() const;
  // Mean owner's limit over the jobs of the last day (for a job without owner's limit: the week's peak).
  double mean_limit() const { return mean_limit_; }
  // The ratio of observed to promised harm, which corrects promises.
  double realised_ratio() const;
  // Delivered share of harm, decayed; nullopt before the first day.
  std::optional<double> delivered() const {
    return weight_ > 0 ? std::optional(realised_ / weight_) : std::nullopt;
  }
  Resource resource() const { return resource_; }
  const BoostedSettings& settings() const { return settings_; }
  uint64_t lessons_seen() const { return lessons_seen_; }

  // Returns a fleet with equal forecasts and the price for another target, as of last midnight. The
  // returned fleet has no sample and cannot learn.
  BoostedFleet ForecasterFor(BoostedTarget target) const;

  void Save(ByteWriter& out) const;
  // Restores the state that Save wrote for a fleet with equal resource and settings. On DataLoss or
  // InvalidArgument nothing changes.
  absl::Status Load(ByteReader& in);

 private:
  void TakeForest();
  void Judge(const BoostedShare& share);
  void MovePrice(BoostedShare& share);
  double Prior() const;
  // Returns the panel's harm at which the target share is delivered.
  double PanelHarmFor(double order) const;
  BoostedPanel PanelOf(double most_harm) const;

  Resource resource_;
  BoostedSettings settings_;
  BoostedTarget target_;
  BottomK<BoostedLesson> sample_;  // uniform sample of all lessons
  uint64_t lessons_seen_ = 0, lessons_at_training_ = 0;
  int32_t first_day_ = INT32_MAX, trained_day_ = INT32_MIN;
  bool due_ = false;
  std::optional<absl::StatusOr<BoostedForest>> trained_;
  absl::Status training_status_;
  BoostedForest forest_;
  double price_ = 0, mean_limit_ = 0;
  int times_priced_ = 0;
  std::vector<BoostedCase> priced_jobs_;  // the jobs for which the price was last solved
  double panel_harm_ = 0;                 // harm of the panel's best limits at the price in force
  // Decayed sums of observed harm, of its unit and of two forecasts: those of the jobs for their limits in force,
  // and that of the panel. `debt_` is the accumulated deviation from the target share.
  double realised_ = 0, weight_ = 0, promised_ = 0, planned_ = 0, debt_ = 0;
};

}  // namespace taut::brain
