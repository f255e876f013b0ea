// The daemon's cluster: KubernetesSource with what other components of the daemon have for it.
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
  // Null are those that the daemon does not have. They outlive it.
  struct Parts {
    QuotaComponent* quota = nullptr;
    const BudgetComponent* budgets = nullptr;
  };
  // InvalidArgument: the configuration asks for a cluster and names none. Other errors as OpenClusterAccess and
  // KubernetesSource::Create. Null: no cluster is configured. `context` outlives it.
  static absl::StatusOr<std::unique_ptr<KubernetesComponent>> Open(const DaemonConfig& config, Parts parts,
                                                                   const DaemonContext& context);

  std::string_view name() const override { return "kubernetes"; }
  // New pods are held to what they say.
  std::span<const std::string_view> after() const override;
  // Null unless limits are set in the cluster.
  absl::StatusOr<std::unique_ptr<Actuator>> MakeActuator() override;
  absl::Status Start() override;
  void Collect(MetricsText& out) const override;
  void Stop() override;
  KubernetesSource& cluster() { return *run_; }
  const KubernetesSource& cluster() const { return *run_; }
  // With what the actuator did.
  KubernetesFacts facts() const;

 private:
  // What the configuration says beyond KubernetesConfig.
  struct Options {
    bool sets_limits = false;
    bool resource_quotas = false;  // the quota's groups are written as ResourceQuota objects
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
  KubernetesActuator* actuator_ = nullptr;  // the control plane's
};

}  // namespace taut::server
