// The fleet as a caller may see it: jobs in reach, prices, and names for answers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/model/machine_size.h"
#include "common/net/http.h"
#include "server/api/group_views.h"
#include "server/api/json.h"
#include "server/api/reach.h"
#include "server/control/component.h"
#include "server/pool/quota_service.h"

namespace taut::server {

// Thread-safe.
class FleetAccess {
 public:
  struct Parts {
    const QuotaService* quota = nullptr;  // null: no groups are known
    Prices prices = {};
    MachineSize machine = {};
  };
  // `context`, with its control plane, and `parts` outlive it.
  explicit FleetAccess(const DaemonContext& context) : FleetAccess(context, Parts()) {}
  FleetAccess(const DaemonContext& context, Parts parts) : context_(context), parts_(std::move(parts)) {}

  ControlPlane& control() const { return *context_.control; }
  const Prices& prices() const { return parts_.prices; }
  Timestamp Now() const { return context_.now(); }
  // Returns the end of the last window; the time now while there is none.
  int64_t NowSeconds() const;

  Reach ReachOf(const HttpRequest& request, Act act) const;
  std::shared_ptr<const FleetView> ViewOf(const Reach& reach) const {
    return views_.Of(reach, control().view());
  }
  bool Reaches(const Reach& reach, JobId id) const;
  // Of a job by its name; one that is not known is in reach of those alone who see everything.
  bool ReachesNamed(const Reach& reach, std::string_view job) const;
  // As Reaches, kept for the jobs that were asked for.
  std::function<bool(JobId)> ReachedJobs(const Reach& reach) const;
  // nullopt also for a job that is not in reach: the caller cannot tell them apart.
  std::optional<JobId> FindJob(std::string_view name, const Reach& reach) const;
  // 404, with names that may have been meant.
  HttpResponse NoJob(std::string_view name, const Reach& reach) const;
  // Also of a job that was forgotten.
  std::string NameOf(JobId id) const;
  // No prices for a caller who may not see the money of all that `shown` has.
  const Prices& PricesFor(const HttpRequest& request, const Reach& shown) const;
  FleetShown ShownTo(const Reach& reach, const Prices& prices) const {
    return {parts_.machine, prices, control().actuator_name(), reach.all()};
  }

 private:
  const DaemonContext& context_;
  const Parts parts_;
  mutable GroupViews views_;
};

// {"error": text} with the status code that an absl::Status stands for.
HttpResponse ErrorResponse(const absl::Status& status);
using taut::ErrorResponse;  // of a status code and a text: src/common/net/http.h

}  // namespace taut::server
