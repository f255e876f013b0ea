// Peak predictors that compute statistics of each machine's own history, or combine other predictors.
// docs/algorithms/overcommit.md, "Overcommit", has the formulas.
#pragma once

#include <memory>
#include <vector>

#include "brain/overcommit/peak_predictor.h"
#include "brain/overcommit/settings.h"

namespace taut::brain {

// Predicts the sum of the limits.
std::unique_ptr<PeakPredictor> NewLimitPredictor();
std::unique_ptr<DurablePredictor> NewBorgPredictor(const BorgSettings& settings);
std::unique_ptr<PeakPredictor> NewNSigmaPredictor(const NSigmaSettings& settings);
std::unique_ptr<PeakPredictor> NewMachinePercentilePredictor(const MachinePercentileSettings& settings);
std::unique_ptr<PeakPredictor> NewRcLikePredictor(const RcLikeSettings& settings);
std::unique_ptr<PeakPredictor> NewMachineMaxPredictor(const MachineMaxSettings& settings);
// Predicts the sum of the tasks' reservations (reservation.h).
std::unique_ptr<PeakPredictor> NewReservationPredictor(const ReservationSettings& settings);
// Predicts the highest prediction of the predictors `of`. REQUIRES: `of` is not empty.
std::unique_ptr<PeakPredictor> NewMaxPredictor(std::vector<std::unique_ptr<PeakPredictor>> of);

}  // namespace taut::brain
