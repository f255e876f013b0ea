#include "server/api/event_streams.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"
#include "server/api/parameters.h"

namespace taut::server {

EventStreams::EventStreams(const FleetAccess& access) : access_(access) {
  access_.control().OnTick([this](const TickEvents& events) { Publish(events); });
}

void EventStreams::AddRoutes(RouteTable& routes) {
  routes.Add("GET", "/api/v1/events", Act::kSeeJobs, [this](const ApiCall& call) { return Subscribe(call); });
}

HttpResponse EventStreams::Subscribe(const ApiCall& call) {
  if (absl::Status s = OnlyParameters(call.request, {}); !s.ok()) return ErrorResponse(s);
  if (!call.reach.all() || call.request.valid_until_s.has_value()) return SubscribeGroup(call.request);
  HttpResponse response;
  response.stream = events_.Subscribe();
  // Send a comment, so that the client detects at once that the stream is open.
  (void)response.stream->Send(std::make_shared<const std::string>(": tautd\n\n"));
  return response;
}

void EventStreams::Close() {
  events_.Close();
  const std::lock_guard lock(mutex_);
  for (const GroupStream& s : group_streams_) s.stream->Close();
  group_streams_.clear();
}

void EventStreams::SendEvents(const TickEvents& events, const Reach& reach, const Prices& prices,
                              SendEvent send) const {
  for (const Decision& d : events.decisions) {
    if (!access_.Reaches(reach, d.job)) continue;
    JsonWriter json;
    json.BeginObject();
    PutDecisionFields(d, *access_.RecordOf(d.job), json);
    json.EndObject();
    send("decision", json.Take(), StrCat(d.id));
  }
  for (const OomRecord& o : events.ooms) {
    if (!access_.Reaches(reach, o.job)) continue;
    JsonWriter json;
    PutOom(o, access_.NameOf(o.job), json);
    send("oom", json.Take(), "");
  }
  for (const TierAct& act : events.tier_acts) {
    if (!access_.ReachesNamed(reach, act.job)) continue;
    JsonWriter json;
    PutTierAct(act, json);
    send("tier_act", json.Take(), "");
  }
  for (const SettingChange& c : events.settings) {
    if (!access_.ReachesNamed(reach, c.job)) continue;
    JsonWriter json;
    PutSettingChange(c, json);
    send("setting", json.Take(), "");
  }
  if (events.window == nullptr) return;
  JsonWriter json;
  PutFleet(*access_.ViewOf(reach), access_.ShownTo(reach, prices), json);
  send("window", json.Take(), "");
}

void EventStreams::Publish(const TickEvents& events) {
  PublishToGroups(events);
  if (events_.size() == 0) return;
  SendEvents(events, Reach(), access_.prices(),
             [this](std::string_view event, const std::string& data, std::string_view id) {
               events_.Publish(event, data, id);
             });
}

HttpResponse EventStreams::SubscribeGroup(const HttpRequest& request) {
  GroupStream stream;
  stream.stream = std::make_shared<EventStream>();
  stream.caller.role = request.role;
  stream.caller.user = request.user;
  stream.caller.bindings = request.bindings;
  stream.caller.valid_until_s = request.valid_until_s;
  HttpResponse response;
  response.stream = stream.stream;
  (void)response.stream->Send(std::make_shared<const std::string>(": tautd\n\n"));
  const std::lock_guard lock(mutex_);
  std::erase_if(group_streams_, [](const GroupStream& s) { return s.stream->closed(); });
  group_streams_.push_back(std::move(stream));
  return response;
}

void EventStreams::PublishToGroups(const TickEvents& events) {
  std::vector<GroupStream> streams;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(group_streams_, [](const GroupStream& s) { return s.stream->closed(); });
    streams = group_streams_;
  }
  const int64_t now_s = streams.empty() ? 0 : access_.Now().seconds();
  for (const GroupStream& s : streams) {
    if (s.caller.valid_until_s.has_value() && *s.caller.valid_until_s <= now_s) {
      s.stream->Close();
      continue;
    }
    // Compute the reach from the current groups, because the quota may have changed since the subscription.
    const Reach reach = access_.ReachOf(s.caller, Act::kSeeJobs);
    SendEvents(events, reach, access_.PricesFor(s.caller, reach),
               [&s](std::string_view event, const std::string& data, std::string_view id) {
                 (void)s.stream->Publish(event, data, id);
               });
  }
}

}  // namespace taut::server
