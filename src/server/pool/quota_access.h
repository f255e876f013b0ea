// Quota as a caller may see and change it. The HTTP API and the gRPC port decide, make and end requests here, so
// that permissions and texts are the same in both.
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

// A request for quota as its sender writes it, and the job that the quota is for.
struct AskedQuota {
  brain::AdmissionRequest request;
  std::string job;

  // Sets a field: "group", "tier", "job", "tasks", "priority", "duration", or a resource such as "cpu".
  // InvalidArgument, with the field, for an invalid value.
  absl::Status Set(std::string_view field, const std::string& text);
  // Returns InvalidArgument if a required field is missing or a text is not printable.
  absl::Status Check() const;
};

// Returns NotFound for a group that the caller may not see or that does not exist. The text names only the
// groups that the caller may see.
absl::Status NoGroup(std::string_view group, const Reach& reach);

// The authenticated senders are HttpRequests also on the gRPC port, as for May and WhoOf. Thread-safe. Each
// function returns PermissionDenied if the caller lacks the role, and NotFound for a group or request out of
// reach, so that a caller cannot tell it from a missing one. Other errors are those of QuotaService.
class QuotaAccess {
 public:
  // `service` must outlive this object.
  explicit QuotaAccess(QuotaService& service) : service_(service) {}

  absl::StatusOr<brain::AdmissionVerdict> Decide(const HttpRequest& caller, const AskedQuota& asked) const;
  absl::StatusOr<brain::QuotaRequest> Submit(const HttpRequest& caller, const AskedQuota& asked) const;
  absl::StatusOr<brain::QuotaRequest> Find(const HttpRequest& caller, int64_t id) const;
  // A caller may end own requests, and with the role kEndRequests all requests in reach.
  absl::StatusOr<brain::QuotaRequest> Withdraw(const HttpRequest& caller, int64_t id) const;

 private:
  Reach ReachOf(const HttpRequest& caller, Act act) const {
    return Reach::Of(caller, act, service_.scheme());
  }

  QuotaService& service_;
};

}  // namespace taut::server
