// The daemon's component for a cluster: a KubernetesSource and its connections to other components.
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
  // Other parts of the daemon, which must outlive the component. Null: the daemon does not have the part.
  struct Parts {
    QuotaComponent* quota = nullptr;
    const BudgetComponent* budgets = nullptr;
  };
  // Opens the configured cluster. Returns null if no cluster is configured. Returns InvalidArgument if the
  // configuration requires a cluster but names none, and errors of OpenClusterAccess() and
  // KubernetesSource::Create(). `context` must outlive the component.
  static absl::StatusOr<std::unique_ptr<KubernetesComponent>> Open(const DaemonConfig& config, Parts parts,
                                                                   const DaemonContext& context);

  std::string_view name() const override { return "kubernetes"; }
  // Returns the components against which new pods are checked, and which must therefore start first.
  std::span<const std::string_view> after() const override;
  // Returns the actuator; null unless limits are set in the cluster.
  absl::StatusOr<std::unique_ptr<Actuator>> MakeActuator() override;
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  void Stop() override;
  KubernetesSource& cluster() { return *run_; }
  const KubernetesSource& cluster() const { return *run_; }
  // Returns the state and counts of the source and of the actuator.
  KubernetesFacts facts() const;

 private:
  // Options that are not part of KubernetesConfig.
  struct Options {
    bool sets_limits = false;
    bool resource_quotas = false;  // true: the groups' quota is written as ResourceQuota objects
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
  KubernetesActuator* actuator_ = nullptr;  // actuator, which the control plane owns
};

}  // namespace taut::server
