// The daemon's component for a cluster: KubernetesSource, connected with other components.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "server/control/component.h"
#include "server/kubernetes/run/kubernetes_source.h"
#include "server/pool/budget_component.h"
#include "server/pool/quota_component.h"

namespace taut::server {

class KubernetesComponent final : public Component {
 public:
  // Null for parts that the daemon does not have. They must outlive the component.
  struct Parts {
    QuotaComponent* quota = nullptr;
    const BudgetComponent* budgets = nullptr;
  };
  // InvalidArgument if the configuration requires a cluster and names none. Other errors as of
  // OpenClusterAccess and KubernetesSource::Create. Null if no cluster is configured. `context` must outlive
  // it.
  static absl::StatusOr<std::unique_ptr<KubernetesComponent>> Open(const DaemonConfig& config, Parts parts,
                                                                   const DaemonContext& context);

  std::string_view name() const override { return "kubernetes"; }
  // After the components that new pods are checked against.
  std::span<const std::string_view> after() const override;
  // Null unless limits are set in the cluster.
  absl::StatusOr<std::unique_ptr<Actuator>> MakeActuator() override;
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  void Stop() override;
  KubernetesSource& cluster() { return *run_; }
  const KubernetesSource& cluster() const { return *run_; }
  // Includes the actuator's figures.
  KubernetesFacts facts() const;

 private:
  // Settings from other sections than KubernetesConfig.
  struct Options {
    bool sets_limits = false;
    bool resource_quotas = false;  // write the quota's groups as ResourceQuota objects
    int64_t forget_jobs_s = 0;
    std::vector<std::string> job_labels;
  };
  KubernetesComponent(Options options, Parts parts, const DaemonContext& context)
      : options_(std::move(options)), parts_(parts), context_(context) {}
  absl::Status HoldToQuota();

  const Options options_;
  const Parts parts_;
  const DaemonContext& context_;
  std::unique_ptr<KubernetesSource> run_;
  KubernetesActuator* actuator_ = nullptr;  // owned by the control plane
};

}  // namespace taut::server
