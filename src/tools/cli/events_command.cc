// taut get events: shows OOM kills, and the actions of machines' memory guards.
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/connection.h"
#include "tools/cli/events_text.h"

namespace taut::tools {
namespace {

absl::Status Events(const EventsArgs& args) {
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  std::vector<QueryParameter> query = {{"limit", std::to_string(args.limit)}};
  if (!args.job.empty()) query.push_back({"job", args.job});
  Json whole = Json::object();
  // OOM kills have no machine, so --machine excludes all of them.
  whole["ooms"] = Json::array();
  if (args.machine.empty()) {
    const absl::StatusOr<Json> ooms = GetJson(**client, "/api/v1/ooms" + FormatQuery(query));
    if (!ooms.ok()) return ooms.status();
    whole["ooms"] = At(*ooms, "ooms");
  } else {
    query.push_back({"machine", args.machine});
  }
  const absl::StatusOr<Json> acts = GetJson(**client, "/api/v1/tier_acts" + FormatQuery(query));
  if (!acts.ok()) return acts.status();
  whole["acts"] = At(*acts, "acts");
  Show(args.daemon.output, whole, [&] { return EventsText(whole, whole, static_cast<size_t>(args.limit)); });
  return absl::OkStatus();
}

}  // namespace

int RunEvents(const EventsArgs& args) { return Finish(Events(args)); }

}  // namespace taut::tools
