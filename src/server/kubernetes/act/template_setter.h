// Sets limits in the pod template of a workload, which rolls out: for all containers and resources at once,
// never during a rollout, and not more often than the jobs' change_period.
//
// Source: Kubernetes, "Server-Side Apply". Fields that another manager applies are left to it. Fields that
// others updated are taken over once, and left alone for a while if they are changed again.
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
  std::optional<double> amount;  // cores or bytes; absent: the owner's amount
  Allocation allocation;
  double change_period_s = 3600;
  std::string set_by = {}, scaled_by = {};  // as in FieldClaims
};

// Not thread-safe.
class TemplateSetter {
 public:
  struct Options {
    std::function<int64_t()> unix_s;
    double step_back_s = 3600;  // after another manager changed what was set
    double poll_s = 5;          // interval between checks of a rollout
    double refused_retry_s = 600;
    // LimitRanges and ResourceQuotas of a namespace; none: unknown.
    std::function<std::vector<NamespaceRule>(const std::string& namespace_name)> rules;
    // Returns the largest amounts among the nodes on which the workload's pods may run.
    std::function<Amounts(const WorkloadName& workload)> largest_node;
    std::function<std::string()> why_not;  // returns "" if the cluster may be changed now
  };
  enum class Did : uint8_t { kDone, kWaits, kFailed };
  struct Result {
    Did did = Did::kDone;
    std::string text;  // why it is not done
  };
  struct Results {
    std::vector<Result> of;     // one for each wish
    double again_in_s = 0;      // 0: when the workload's pods or orders change
    bool was_set = false;       // the API server accepted a patch in this call
    absl::Status refused;       // the patch was rejected, or the workload could not be read
    bool stepped_back = false;  // another manager changed what was set
  };
  // `writer` must outlive it.
  TemplateSetter(Options options, ClusterWriter* writer) : options_(std::move(options)), writer_(writer) {}

  // Checks the workload and sets what is due in its template. `wishes`: all that apply to it, at most one for
  // each container and resource; amounts that they do not name stay. One GET and at most one PATCH.
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
