// Sets limits in the pod template of a workload, which causes a rollout. Sets all containers and resources at
// once, never during a rollout, and at most once per change_period of the jobs.
//
// Source: Kubernetes, "Server-Side Apply". Tautline does not change a field that another manager applies. Tautline
// takes ownership of a field that another manager updated, but only once. If the manager changes the field again,
// Tautline steps back for a while.
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

// Wanted amount of one resource of a container.
struct TemplateWish {
  std::string container;  // name of the container; "": the only container
  Resource resource = Resource::kCpu;
  std::optional<double> amount;  // wanted cores or bytes; absent: the owner's amount
  Allocation allocation;
  double change_period_s = 3600;
  std::string set_by = {}, scaled_by = {};  // claims of other programs, as in FieldClaims
};

// Sets templates through a ClusterWriter. Not thread-safe.
class TemplateSetter {
 public:
  struct Options {
    std::function<int64_t()> unix_s;
    double step_back_s = 3600;  // time of stepping back after another manager's change
    double poll_s = 5;          // interval between checks of a rollout
    double refused_retry_s = 600;
    // Returns the LimitRanges and ResourceQuotas of a namespace. Empty function: these objects are unknown.
    std::function<std::vector<NamespaceRule>(const std::string& namespace_name)> rules;
    // Returns the largest amounts of any node on which the workload's pods may run.
    std::function<Amounts(const WorkloadName& workload)> largest_node;
    // Returns the reason why the cluster may not be changed now; "" if it may be changed.
    std::function<std::string()> why_not;
  };
  enum class Did : uint8_t { kDone, kWaits, kFailed };
  struct Result {
    Did did = Did::kDone;
    std::string text;  // reason why the amount is not set; "" if it is set
  };
  struct Results {
    std::vector<Result> of;  // results, one for each wish
    // Delay until the next call in seconds. 0: the next call is due when the workload's pods or orders change.
    double again_in_s = 0;
    bool was_set = false;       // true: the API server accepted a patch
    absl::Status refused;       // error if the patch was rejected or the workload could not be read
    bool stepped_back = false;  // true: another manager changed a set amount
  };
  // `writer` must outlive this object.
  TemplateSetter(Options options, ClusterWriter* writer) : options_(std::move(options)), writer_(writer) {}

  // Sets the due amounts in the template of the workload. `wishes` contains all wishes for the workload, at most
  // one per container and resource. Amounts without a wish do not change. Sends one GET and at most one PATCH.
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
