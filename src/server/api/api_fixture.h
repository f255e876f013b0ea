// For tests: a store that stores nothing, and the API without a server.
#pragma once

#include <functional>
#include <utility>

#include "server/api/routes.h"
#include "server/control/actuator.h"
#include "server/store/empty_history.h"
#include "server/store/store.h"

namespace taut::server {

// Accepts all values and stores none.
class NoStore : public Store, public EmptyHistory {
 public:
  absl::Status Commit(const PassRecord& pass) override {
    settings += pass.settings.size();
    return absl::OkStatus();
  }
  absl::StatusOr<StoreEnds> Restore(const RestoreSink&) override { return StoreEnds(); }
  absl::Status ReadForgotten(int64_t, absl::FunctionRef<void(const JobRecord&, int64_t)>) override {
    return absl::OkStatus();
  }
  absl::Status ReadPasts(absl::FunctionRef<void(JobId, PastState)>) override { return absl::OkStatus(); }
  absl::Status ReadWindows(WindowId, absl::FunctionRef<absl::Status(const ClosedWindow&)>) override {
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Maintain(WindowId) override { return false; }
  size_t settings = 0;
};

// All routes over a control plane, which must outlive this object.
class TestApi {
 public:
  explicit TestApi(ControlPlane& control, FleetAccess::Parts fleet = {}, std::function<Timestamp()> now = {},
                   ApiParts parts = {})
      : context_{.control = &control, .now = std::move(now)},
        access_(context_, std::move(fleet)),
        parts_(std::move(parts)) {}
  HttpResponse Handle(const HttpRequest& request) const { return router_.Handle(request); }
  const Router& router() const { return router_; }
  const FleetAccess& access() const { return access_; }

 private:
  const DaemonContext context_;
  const FleetAccess access_;
  const ApiParts parts_;
  const Router router_{access_, RoutesOf(access_, parts_), {}};
};

inline HttpRequest ApiRequest(std::string_view method, std::string_view path) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  request.role = Role::kOperator;
  return request;
}

}  // namespace taut::server
