// Access to quota within the permissions of a caller. The HTTP API and the gRPC port decide, make and end requests
// through this file, so that permissions and texts are equal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/net/http.h"
#include "server/pool/quota_service.h"
#include "server/pool/reach.h"

namespace taut::server {

// An unchecked request for quota, with the name of the job that will use the quota.
struct AskedQuota {
  brain::AdmissionRequest request;
  std::string job;

  // Sets a field: "group", "tier", "job", "tasks", "priority", "duration", or a resource such as "cpu". Returns
  // InvalidArgument with the field if the value is invalid.
  absl::Status Set(std::string_view field, const std::string& text);
  // Returns InvalidArgument if a required field is missing or a text is not printable.
  absl::Status Check() const;
};

// Returns NotFound for a group that the caller may not see or that does not exist. The text names only groups that
// the caller may see.
absl::Status NoGroup(std::string_view group, const Reach& reach);

// Checks the permissions of callers. A caller is an authenticated HttpRequest, also on the gRPC port. Functions
// return PermissionDenied if the caller lacks the role. For a group or request out of reach, functions return
// NotFound, so that the caller cannot detect that it exists. Functions also return the errors of QuotaService.
// Thread-safe.
class QuotaAccess {
 public:
  // `service` must outlive this object.
  explicit QuotaAccess(QuotaService& service) : service_(service) {}

  absl::StatusOr<brain::AdmissionVerdict> Decide(const HttpRequest& caller, const AskedQuota& asked) const;
  absl::StatusOr<brain::QuotaRequest> Submit(const HttpRequest& caller, const AskedQuota& asked) const;
  absl::StatusOr<brain::QuotaRequest> Find(const HttpRequest& caller, int64_t id) const;
  // Ends a request. Only the person who made the request, or a caller with the permission kEndRequests for the
  // request's group, may end the request.
  absl::StatusOr<brain::QuotaRequest> Withdraw(const HttpRequest& caller, int64_t id) const;

 private:
  Reach ReachOf(const HttpRequest& caller, Act act) const {
    return Reach::Of(caller, act, service_.scheme());
  }

  QuotaService& service_;
};

}  // namespace taut::server
