// The fleet as a caller may see it: the jobs in the caller's reach (Reach), prices, and names for responses.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/model/machine_size.h"
#include "common/net/http.h"
#include "common/net/http_status.h"
#include "server/api/group_views.h"
#include "server/api/json.h"
#include "server/control/component.h"
#include "server/pool/quota_service.h"
#include "server/pool/reach.h"

namespace taut::server {

// All functions are thread-safe.
class FleetAccess {
 public:
  struct Parts {
    const QuotaService* quota = nullptr;  // null: no group is known
    Prices prices = {};
    MachineSize machine = {};
  };
  // `context`, the control plane in it, and the objects in `parts` must outlive this object.
  explicit FleetAccess(const DaemonContext& context) : FleetAccess(context, Parts()) {}
  FleetAccess(const DaemonContext& context, Parts parts) : context_(context), parts_(std::move(parts)) {}

  ControlPlane& control() const { return *context_.control; }
  const Prices& prices() const { return parts_.prices; }
  Timestamp Now() const { return context_.now(); }
  // Returns the end of the last closed window in seconds since the epoch; the present time if no window has
  // closed.
  int64_t NowSeconds() const;

  // Returns the caller's reach for this act, computed from the present groups.
  Reach ReachOf(const HttpRequest& request, Act act) const;
  std::shared_ptr<const FleetView> ViewOf(const Reach& reach) const {
    return views_.Of(reach, control().view());
  }
  bool Reaches(const Reach& reach, JobId id) const;
  // Returns true if the job of this name is in reach. An unknown job is in reach only of callers who may see
  // all jobs.
  bool ReachesNamed(const Reach& reach, std::string_view job) const;
  // Returns Reaches as a function that caches its results. Suits many rows of few jobs. The function is not
  // thread-safe.
  std::function<bool(JobId)> ReachedJobs(const Reach& reach) const;
  // Returns the job of this name. Returns nullopt for an unknown job and for a job out of reach, so that a
  // caller cannot tell the two apart.
  std::optional<JobId> FindJob(std::string_view name, const Reach& reach) const;
  // Returns the response 404, with similar names of jobs in reach.
  HttpResponse NoJob(std::string_view name, const Reach& reach) const;
  // Returns the job's name, even if the job was forgotten; "job N" if the store has no record of it.
  std::string NameOf(JobId id) const;
  // Returns the prices. Returns empty prices if the caller may not see the money of all jobs and groups in
  // `shown`.
  const Prices& PricesFor(const HttpRequest& request, const Reach& shown) const;
  FleetShown ShownTo(const Reach& reach, const Prices& prices) const {
    return {parts_.machine, prices, control().actuator_name(), reach.all()};
  }

 private:
  const DaemonContext& context_;
  const Parts parts_;
  mutable GroupViews views_;
};

}  // namespace taut::server
