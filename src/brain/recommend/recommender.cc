#include "brain/recommend/recommender.h"

namespace taut::brain {

void Recommender::TakeExternal(const ExternalLimit& /*limit*/) {}
std::optional<double> Recommender::OwnLimit(std::optional<double> recommended) const { return recommended; }
void Recommender::TakeTaskSize(const TaskSize& /*size*/) {}
std::optional<ProvisionalLimit> Recommender::Provisional(WindowId /*next*/) const { return std::nullopt; }
void Recommender::StartDay(int32_t /*day*/) {}
void Recommender::EndDay(int32_t /*day*/, FleetRows& /*rows*/) {}
std::optional<double> Recommender::OverrunChance(double /*limit*/) const { return std::nullopt; }
void Recommender::UpdateRisk(double limit, LimitRisk& risk) const {
  risk = LimitRisk();
  risk.limit = limit;
}
LimitRisk Recommender::RiskOf(double limit) const {
  LimitRisk risk;
  UpdateRisk(limit, risk);
  return risk;
}

}  // namespace taut::brain
