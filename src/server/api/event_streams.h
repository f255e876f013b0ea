// GET /api/v1/events: a stream of events, restricted for each listener to what that caller may see.
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
  // `access` must outlive it. Subscribes to the ticks of its control plane.
  explicit EventStreams(const FleetAccess& access);

  void AddRoutes(RouteTable& routes);
  // Sends the events to all listeners that may see them.
  void Publish(const TickEvents& events);
  // Ends all streams. Call before the server stops.
  void Close();

 private:
  // A stream of a caller who is bound to groups or whose token expires.
  struct GroupStream {
    std::shared_ptr<EventStream> stream;
    HttpRequest caller;  // without headers and body
  };
  using SendEvent =
      absl::FunctionRef<void(std::string_view event, const std::string& data, std::string_view id)>;

  HttpResponse Subscribe(const ApiCall& call);
  HttpResponse SubscribeGroup(const HttpRequest& request);
  void PublishToGroups(const TickEvents& events);
  // Calls `send` for each of `events` in reach, one after the other.
  void SendEvents(const TickEvents& events, const Reach& reach, const Prices& prices, SendEvent send) const;

  const FleetAccess& access_;
  EventHub events_;  // streams of callers who see everything
  std::mutex mutex_;
  std::vector<GroupStream> group_streams_;
};

}  // namespace taut::server
