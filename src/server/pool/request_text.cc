#include "server/pool/request_text.h"

#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/json/json_tree.h"

namespace taut::server {
namespace {

constexpr int64_t kMostSeconds = 100 * 366 * kDaySeconds;  // bound on durations, as in DecideAdmission()

// Returns true if the times are plausible and the amounts are countable.
bool IsWhole(const brain::QuotaRequest& r) {
  const auto of_era = [](Timestamp t) { return t.seconds() >= 0 && t.seconds() <= 4 * kMostSeconds; };
  const int64_t duration_s = r.asked.duration_s.value_or(0);
  return r.asked.tasks >= 1 && r.asked.per_task.Times(r.asked.tasks).has_value() && duration_s >= 0 &&
         duration_s <= kMostSeconds && of_era(r.since) && of_era(r.asked.now) &&
         of_era(r.admitted_at.value_or(r.since));
}

}  // namespace

std::string EncodeRequest(const brain::QuotaRequest& r) {
  JsonWriter json;
  json.BeginObject();
  json.Field("id", static_cast<int64_t>(r.id));
  json.Field("state", Name(r.state));
  json.Field("end", Name(r.end));
  json.Field("since_us", r.since.us);
  json.Field("group", std::string_view(r.asked.group));
  json.Field("tier", std::string_view(r.asked.tier));
  json.Field("job", std::string_view(r.job));
  json.Field("tasks", r.asked.tasks);
  json.Key("per_task");
  json.BeginObject();
  for (const brain::QuotaAmount& a : r.asked.per_task.amounts()) json.Field(a.resource, a.amount);
  json.EndObject();
  json.Field("priority", int64_t{r.asked.priority});
  json.Field("asked_us", r.asked.now.us);
  if (r.asked.duration_s.has_value()) json.Field("duration_s", *r.asked.duration_s);
  if (r.admitted_at.has_value()) json.Field("admitted_us", r.admitted_at->us);
  json.Field("who", std::string_view(r.who));
  json.Field("reason", std::string_view(r.reason));
  json.EndObject();
  return json.Take();
}

absl::StatusOr<brain::QuotaRequest> DecodeRequest(std::string_view text) {
  JsonTree tree;
  if (absl::Status s = tree.Parse(text); !s.ok()) return s;
  const JsonNode root = tree.root();
  brain::QuotaRequest r;
  r.id = static_cast<uint64_t>(root.Whole("id"));
  const std::optional<brain::RequestState> state = brain::RequestStateNamed(root.Text("state"));
  const std::optional<brain::RequestEnd> end = brain::RequestEndNamed(root.Text("end"));
  if (r.id == 0 || !state.has_value() || !end.has_value())
    return absl::DataLossError("not a request: expected an object with id, state and end");
  r.state = *state;
  r.end = *end;
  r.since = {root.Whole("since_us")};
  r.asked.group = root.Text("group");
  r.asked.tier = root.Text("tier");
  r.asked.tasks = root.Whole("tasks");
  root["per_task"].ForEachField([&r](std::string_view resource, JsonNode amount) {
    r.asked.per_task.Set(resource, amount.whole().value_or(0));
  });
  r.asked.priority = static_cast<int32_t>(root.Whole("priority"));
  r.asked.now = {root.Whole("asked_us")};
  r.asked.duration_s = root["duration_s"].whole();
  if (const std::optional<int64_t> at = root["admitted_us"].whole(); at.has_value())
    r.admitted_at = Timestamp{*at};
  r.job = root.Text("job");
  r.who = root.Text("who");
  r.reason = root.Text("reason");
  if (!IsWhole(r)) return absl::DataLossError("a request with an amount, a duration or a time out of bounds");
  return r;
}

}  // namespace taut::server
