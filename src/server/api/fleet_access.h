// The fleet within the permissions of a caller: jobs in reach (Reach), prices, and names for responses.
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

// Answers queries about the fleet for callers. Thread-safe.
class FleetAccess {
 public:
  struct Parts {
    const QuotaService* quota = nullptr;  // quota; null: there are no groups
    Prices prices = {};
    MachineSize machine = {};
  };
  // `context`, its control plane, and the objects in `parts` must outlive this object.
  explicit FleetAccess(const DaemonContext& context) : FleetAccess(context, Parts()) {}
  FleetAccess(const DaemonContext& context, Parts parts) : context_(context), parts_(std::move(parts)) {}

  ControlPlane& control() const { return *context_.control; }
  const Prices& prices() const { return parts_.prices; }
  Timestamp Now() const { return context_.now(); }
  // Returns the end of the last closed window, or the current time if no window has closed, in seconds since the
  // epoch.
  int64_t NowSeconds() const;

  // Returns the caller's reach for `act`, computed from the current groups.
  Reach ReachOf(const HttpRequest& request, Act act) const;
  std::shared_ptr<const FleetView> ViewOf(const Reach& reach) const {
    return views_.Of(reach, control().view());
  }
  bool Reaches(const Reach& reach, JobId id) const;
  // Returns true if the job with this name is in reach. Only callers who may see all jobs reach an unknown job.
  bool ReachesNamed(const Reach& reach, std::string_view job) const;
  // Returns Reaches() as a function that caches its results, for many rows with few jobs. The function is not
  // thread-safe.
  std::function<bool(JobId)> ReachedJobs(const Reach& reach) const;
  // Returns the job with this name. Returns nullopt for an unknown job and for a job out of reach, so that the
  // caller cannot detect its existence.
  std::optional<JobId> FindJob(std::string_view name, const Reach& reach) const;
  // Returns a 404 response with similar names of jobs in reach.
  HttpResponse NoJob(std::string_view name, const Reach& reach) const;
  // Returns the record of a job, which may be forgotten; a record with the name "job N" if the store has none.
  // Never null.
  std::shared_ptr<const JobRecord> RecordOf(JobId id) const;
  std::string NameOf(JobId id) const { return RecordOf(id)->name; }
  // Returns the prices; empty unless the caller may see the money of all jobs and groups in `shown`.
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
