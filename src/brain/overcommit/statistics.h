// The peak predictors that are a statistic of one machine's own history. NewX of each;
// docs/algorithms/overcommit.md, "Overcommit", has the formulas.
#pragma once

#include <memory>
#include <vector>

#include "brain/overcommit/peak_predictor.h"
#include "brain/overcommit/settings.h"

namespace taut::brain {

std::unique_ptr<PeakPredictor> NewLimitPredictor();
std::unique_ptr<DurablePredictor> NewBorgPredictor(const BorgSettings& settings);
std::unique_ptr<PeakPredictor> NewNSigmaPredictor(const NSigmaSettings& settings);
std::unique_ptr<PeakPredictor> NewMachinePercentilePredictor(const MachinePercentileSettings& settings);
std::unique_ptr<PeakPredictor> NewRcLikePredictor(const RcLikeSettings& settings);
std::unique_ptr<PeakPredictor> NewMachineMaxPredictor(const MachineMaxSettings& settings);
// The sum of the reservations of the tasks (reservation.h).
std::unique_ptr<PeakPredictor> NewReservationPredictor(const ReservationSettings& settings);
// The highest of these, which must not be empty.
std::unique_ptr<PeakPredictor> NewMaxPredictor(std::vector<std::unique_ptr<PeakPredictor>> of);

}  // namespace taut::brain
