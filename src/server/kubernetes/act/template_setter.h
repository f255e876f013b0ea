// Sets limits in the pod template of a workload, which causes a rollout. Sets all containers and resources at
// once, never during a rollout, and not more often than the jobs' change_period.
//
// Source: Kubernetes, "Server-Side Apply". Fields that another manager applies are left to that manager.
// Fields that other managers updated are taken over once; if a manager changes them again, they are left
// alone for a while.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "server/kubernetes/act/cluster_writer.h"
#include "server/kubernetes/act/resize_plan.h"
#include "server/kubernetes/client/objects.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/workload_template.h"

namespace taut::server {

// The wanted amount of one container and resource.
struct TemplateWish {
  std::string container;  // "": the only container
  Resource resource = Resource::kCpu;
  std::optional<double> amount;  // cores or bytes; absent: the owner's amount is wanted
  Allocation allocation;
  double change_period_s = 3600;
  std::string set_by = {}, scaled_by = {};  // as in FieldClaims
};

// Sets templates through a ClusterWriter. Not thread-safe.
class TemplateSetter {
 public:
  struct Options {
    std::function<int64_t()> unix_s;
    double step_back_s = 3600;  // time to leave a template alone after another manager changed a set amount
    double poll_s = 5;          // interval between checks of a rollout
    double refused_retry_s = 600;
    // Returns the LimitRanges and ResourceQuotas of a namespace. Empty function: they are unknown.
    std::function<std::vector<NamespaceRule>(const std::string& namespace_name)> rules;
    // Returns the largest amounts of the nodes on which the workload's pods may run.
    std::function<Amounts(const WorkloadName& workload)> largest_node;
    // Returns the reason why the cluster may not be changed now; "" if it may be changed.
    std::function<std::string()> why_not;
  };
  enum class Did : uint8_t { kDone, kWaits, kFailed };
  struct Result {
    Did did = Did::kDone;
    std::string text;  // reason why the amount is not set
  };
  struct Results {
    std::vector<Result> of;  // one for each wish
    // Seconds until the next call is due; 0: call when the workload's pods or orders change.
    double again_in_s = 0;
    bool was_set = false;       // the API server accepted a patch in this call
    absl::Status refused;       // the patch was rejected, or the workload could not be read
    bool stepped_back = false;  // another manager changed a set amount
  };
  // `writer` must outlive the object.
  TemplateSetter(Options options, ClusterWriter* writer) : options_(std::move(options)), writer_(writer) {}

  // Checks the workload and sets the amounts that are due in its template. `wishes`: all wishes for the
  // workload, at most one for each container and resource. Amounts without a wish stay. Sends one GET and at
  // most one PATCH.
  Results Set(const WorkloadName& workload, const std::vector<TemplateWish>& wishes);

 private:
  struct Plan;
  void PlanWish(const TemplateWish& wish, Plan& plan, Result& result, Results& results) const;
  void KeepRest(Plan& plan) const;
  std::string WhyNotNow(const Plan& plan, Results& results) const;

  const Options options_;
  ClusterWriter* const writer_;
};

}  // namespace taut::server
