// GET /api/v1/events: what happens, as it happens, to each listener what that one may see.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "common/net/event_stream.h"
#include "server/api/router.h"

namespace taut::server {

// Thread-safe.
class EventStreams {
 public:
  // `access` outlives it; listens to the ticks of its control plane.
  explicit EventStreams(const FleetAccess& access);

  void AddRoutes(RouteTable& routes);
  // Sends what happened to all listeners.
  void Publish(const TickEvents& events);
  // Ends all streams: before the server stops.
  void Close();

 private:
  // Of one caller who is bound to groups, or whose token expires.
  struct GroupStream {
    std::shared_ptr<EventStream> stream;
    HttpRequest caller;  // without headers and body
  };
  using SendEvent =
      absl::FunctionRef<void(std::string_view event, const std::string& data, std::string_view id)>;

  HttpResponse Subscribe(const ApiCall& call);
  HttpResponse SubscribeGroup(const HttpRequest& request);
  void PublishToGroups(const TickEvents& events);
  // What of `events` is in reach, one after the other.
  void SendEvents(const TickEvents& events, const Reach& reach, const Prices& prices, SendEvent send) const;

  const FleetAccess& access_;
  EventHub events_;  // of callers who see everything
  std::mutex mutex_;
  std::vector<GroupStream> group_streams_;
};

}  // namespace taut::server
