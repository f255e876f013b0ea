// Sets limits in the pod template of a workload, which rolls out: for all containers and resources at once, not
// during a rollout, and not more often than the jobs' change_period.
//
// Source: Kubernetes, "Server-Side Apply": what another manager applies is left to it; what others have updated is
// taken over once, and left alone for a while if they change it again.
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

// What holds for a container of a workload.
struct TemplateWish {
  std::string container;  // "": the only one
  Resource resource = Resource::kCpu;
  std::optional<double> amount;  // cores or bytes; absent: the owner's again
  Allocation allocation;
  double change_period_s = 3600;
  std::string set_by = {}, scaled_by = {};  // FieldClaims
};

// One object, one thread.
class TemplateSetter {
 public:
  struct Options {
    std::function<int64_t()> unix_s;
    double step_back_s = 3600;  // after another has changed what was set
    double poll_s = 5;          // from one look at a rollout to the next
    double refused_retry_s = 600;
    // LimitRanges and ResourceQuotas of a namespace; none: not known.
    std::function<std::vector<NamespaceRule>(const std::string& namespace_name)> rules;
    std::function<Amounts(const WorkloadName& workload)> largest_node;  // of those that its pods may run on
    std::function<std::string()> why_not;  // "" if the cluster may be changed now
  };
  enum class Did : uint8_t { kDone, kWaits, kFailed };
  struct Result {
    Did did = Did::kDone;
    std::string text;  // why it is not done
  };
  struct Results {
    std::vector<Result> of;     // by wish
    double again_in_s = 0;      // 0: once the workload's pods or orders change
    bool was_set = false;       // the API server took a patch, in this call
    absl::Status refused;       // it did not take it, or the workload could not be read
    bool stepped_back = false;  // another has changed what was set
  };
  // `writer` must outlive it.
  TemplateSetter(Options options, ClusterWriter* writer) : options_(std::move(options)), writer_(writer) {}

  // Looks at the workload, and sets in its template what is due. `wishes`: all that hold for it, at most one for
  // a container's resource; what they do not name stays. One GET and at most one PATCH.
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
