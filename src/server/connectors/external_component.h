// The daemon's component for an external recommender, a service of the owner.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "server/control/component.h"
#include "server/control/external_recommender.h"

namespace taut::server {

class ExternalComponent final : public Component {
 public:
  // Connects to the service. REQUIRES: an address is configured. `machine` (see ExternalBounds) is called
  // from any thread. `context` must outlive the component. Returns the errors of ConnectExternalRecommender.
  static absl::StatusOr<std::unique_ptr<ExternalComponent>> Open(const ExternalRecommenderConfig& config,
                                                                 const std::string& cell,
                                                                 std::function<PerResource<double>()> machine,
                                                                 const DaemonContext& context);

  std::string_view name() const override { return "external_recommender"; }
  ExternalRecommender* recommender() { return recommender_.get(); }
  // Logs a line when the service starts or stops answering, and for the first rejected answer of each kind
  // and job.
  void Tick(const LoopTurn& turn) override;
  void Collect(MetricsText& out) const override;
  void Warn(std::vector<std::string>& warnings) const override;

 private:
  ExternalComponent(std::unique_ptr<ExternalRecommender> recommender, const DaemonContext& context)
      : recommender_(std::move(recommender)), context_(context) {}

  const std::unique_ptr<ExternalRecommender> recommender_;
  const DaemonContext& context_;
  bool failed_ = false, answered_ = false;
};

}  // namespace taut::server
