// The daemon's component for an external recommender, a service that the cluster's owner runs.
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
  // Connects to the service. Any thread may call `machine` (ExternalBounds::machine). `context` must outlive the
  // component. Returns errors of ConnectExternalRecommender(). REQUIRES: `config` has an address.
  static absl::StatusOr<std::unique_ptr<ExternalComponent>> Open(const ExternalRecommenderConfig& config,
                                                                 const std::string& cell,
                                                                 std::function<PerResource<double>()> machine,
                                                                 const DaemonContext& context);

  std::string_view name() const override { return "external_recommender"; }
  ExternalRecommender* recommender() { return recommender_.get(); }
  // Logs when the service begins to respond, when it stops responding, and the first rejected answer of each kind
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
