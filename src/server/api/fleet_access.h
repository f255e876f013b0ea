// The fleet as a caller may see it: jobs in reach, prices, and names for responses.
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
  // `context`, its control plane, and the objects in `parts` must outlive it.
  explicit FleetAccess(const DaemonContext& context) : FleetAccess(context, Parts()) {}
  FleetAccess(const DaemonContext& context, Parts parts) : context_(context), parts_(std::move(parts)) {}

  ControlPlane& control() const { return *context_.control; }
  const Prices& prices() const { return parts_.prices; }
  Timestamp Now() const { return context_.now(); }
  // Returns the end of the last closed window; the present time if there is none.
  int64_t NowSeconds() const;

  // Returns the caller's reach for this act, with the present groups.
  Reach ReachOf(const HttpRequest& request, Act act) const;
  std::shared_ptr<const FleetView> ViewOf(const Reach& reach) const {
    return views_.Of(reach, control().view());
  }
  bool Reaches(const Reach& reach, JobId id) const;
  // As Reaches, by the job's name. An unknown job is in reach only of callers who see everything.
  bool ReachesNamed(const Reach& reach, std::string_view job) const;
  // Returns Reaches as a function that remembers its results: for many rows of few jobs. Not thread-safe.
  std::function<bool(JobId)> ReachedJobs(const Reach& reach) const;
  // Returns nullopt also for a job that is not in reach, so that a caller cannot tell the difference.
  std::optional<JobId> FindJob(std::string_view name, const Reach& reach) const;
  // Returns 404 with similar names of jobs in reach.
  HttpResponse NoJob(std::string_view name, const Reach& reach) const;
  // Returns the job's name, also if the job was forgotten.
  std::string NameOf(JobId id) const;
  // Returns empty prices for a caller who may not see the money of everything in `shown`.
  const Prices& PricesFor(const HttpRequest& request, const Reach& shown) const;
  FleetShown ShownTo(const Reach& reach, const Prices& prices) const {
    return {parts_.machine, prices, control().actuator_name(), reach.all()};
  }

 private:
  const DaemonContext& context_;
  const Parts parts_;
  mutable GroupViews views_;
};

// {"error": text} with the HTTP status for an absl::Status.
HttpResponse ErrorResponse(const absl::Status& status);
using taut::ErrorResponse;  // for an HTTP status and a text: src/common/net/http.h

}  // namespace taut::server
