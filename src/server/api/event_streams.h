// GET /api/v1/events: a stream of events. A listener receives only the events that its caller may see.
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

// All open streams of events. Thread-safe.
class EventStreams {
 public:
  // Subscribes to the ticks of the control plane in `access`, which must outlive this object.
  explicit EventStreams(const FleetAccess& access);

  void AddRoutes(RouteTable& routes);
  // Sends each event to the listeners that may see it.
  void Publish(const TickEvents& events);
  // Ends all streams. Call before the server stops.
  void Close();

 private:
  // A stream whose caller is bound to groups or has a token that expires.
  struct GroupStream {
    std::shared_ptr<EventStream> stream;
    HttpRequest caller;  // subscribing request without headers and body
  };
  using SendEvent =
      absl::FunctionRef<void(std::string_view event, const std::string& data, std::string_view id)>;

  HttpResponse Subscribe(const ApiCall& call);
  HttpResponse SubscribeGroup(const HttpRequest& request);
  void PublishToGroups(const TickEvents& events);
  // Calls `send` for each event in reach, one after the other.
  void SendEvents(const TickEvents& events, const Reach& reach, const Prices& prices, SendEvent send) const;

  const FleetAccess& access_;
  EventHub events_;  // streams of callers who may see all jobs
  std::mutex mutex_;
  std::vector<GroupStream> group_streams_;
};

}  // namespace taut::server
