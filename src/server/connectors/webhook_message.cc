#include "server/connectors/webhook_message.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/base/json_writer.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/json/json_walk.h"
#include "common/net/http_client.h"
#include "common/net/webhook.h"
#include "fmt/format.h"

namespace taut::server {
namespace {

constexpr size_t kMaxTextBytes = 300;
constexpr int64_t kMaxTasks = 1'000'000;

constexpr int64_t kYear9999s = 253'402'300'799;

// Formats a time like "2026-11-23T04:05:06Z".
std::string Rfc3339(int64_t unix_s) {
  namespace chrono = std::chrono;
  const chrono::sys_seconds time{chrono::seconds(std::clamp<int64_t>(unix_s, 0, kYear9999s))};
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count());
}

// Shortens a text at a character boundary, and removes line ends and control characters.
std::string Shown(std::string_view text) {
  text = StripSpace(text);
  size_t size = std::min(text.size(), kMaxTextBytes);
  for (int back = 0; back < 3 && size > 0 && size < text.size() && (text[size] & 0xC0) == 0x80; ++back)
    --size;
  return StrCat(Printable(text.substr(0, size)), size < text.size() ? "..." : "");
}

// Content of the JSON object in a response.
struct Answer {
  std::string message;
  bool applied = true;
};

std::optional<Answer> ParseAnswer(std::string_view body) {
  if (!StripSpace(body).starts_with('{')) return std::nullopt;
  Answer out;
  std::string json(body);
  const absl::Status read = JsonReader().ReadObject(json, [&out](std::string_view key, JsonValue value) {
    if (key == "applied") return value.Read(out.applied);
    if (key != "message") return absl::OkStatus();
    std::string_view text;
    absl::Status s = value.Read(text);
    out.message = Shown(text);
    return s;
  });
  return read.ok() ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<double> RetryAfter(const HttpResponse& response) {
  const std::string* header = response.header("Retry-After");
  const std::optional<double> seconds = header == nullptr ? std::nullopt : ParseDouble(StripSpace(*header));
  return seconds.has_value() && *seconds >= 0 ? seconds : std::nullopt;  // a date is ignored
}

}  // namespace

std::string WebhookBody(const TargetOrder& order, int64_t decided_s, int64_t sent_s) {
  JsonWriter json;
  json.BeginObject();
  json.Field("version", int64_t{1});
  json.Field("decision", static_cast<int64_t>(order.decision));
  json.Field("job", std::string_view(order.job));
  json.Field("target", Name(order.target));
  json.Field("unit", UnitName(order.target));
  json.Key("value");
  if (order.value.has_value()) {
    json.Number(*order.value, 15);
  } else {
    json.Null();
  }
  if (order.tasks.has_value()) {
    json.Key("tasks");
    json.BeginArray();
    for (const std::string& task : *order.tasks) json.String(task);
    json.EndArray();
  }
  json.Field("decided_at", std::string_view(Rfc3339(decided_s)));
  json.Field("sent_at", std::string_view(Rfc3339(sent_s)));
  json.EndObject();
  return json.Take();
}

std::string IdempotencyKey(std::string_view instance, const TargetOrder& order) {
  std::string out = StrCat(instance, "-", order.decision);
  if (order.tasks.has_value()) StrAppend(&out, "-t", order.tasks->size());
  return out;
}

std::vector<HttpHeader> WebhookHeaders(std::string_view idempotency_key, std::string_view secret,
                                       std::string_view body, int64_t sent_s) {
  const std::string timestamp = std::to_string(sent_s);
  return {{"Idempotency-Key", std::string(idempotency_key)},
          {"Tautline-Timestamp", timestamp},
          {"Tautline-Signature", StrCat("v1=", HmacSha256Hex(secret, StrCat(timestamp, ".", body)))}};
}

WebhookResult ResultOf(const absl::StatusOr<HttpResponse>& response) {
  using Kind = WebhookResult::Kind;
  if (!response.ok()) return {Kind::kUnavailable, Shown(Message(response.status())), std::nullopt};
  const int status = response->status;
  const std::optional<Answer> answer = ParseAnswer(response->text());
  if (status >= 200 && status < 300) {
    const std::string message = answer.has_value() ? answer->message : "";
    if (answer.has_value() && !answer->applied) {
      return {Kind::kRefused, StrCat("the receiver did not apply it", message.empty() ? "" : ": ", message),
              std::nullopt};
    }
    const std::string text =
        status == 202 ? StrCat("accepted", message.empty() ? "" : ": ", message) : message;
    return {Kind::kApplied, text, std::nullopt};
  }
  std::string text = answer.has_value() && !answer->message.empty()
                         ? StrCat("the receiver answered ", status, ": ", answer->message)
                         : Shown(Message(StatusOf(*response)));
  if (status == 409) return {Kind::kRefused, StrCat("another manager owns it: ", text), std::nullopt};
  if (status == 429 || status == 503) return {Kind::kUnavailable, std::move(text), RetryAfter(*response)};
  if (status == 408 || status == 425 || status >= 500) {
    return {Kind::kRetry, std::move(text), RetryAfter(*response)};
  }
  if (status >= 300 && status < 400) StrAppend(&text, " (redirects are not followed)");
  return {Kind::kRefused, std::move(text), std::nullopt};
}

// ---- stored orders ----

void SaveOrder(const TargetOrder& order, ByteWriter& out) {
  out.PutVarint(order.decision);
  out.PutString(order.job);
  out.Put(order.target.code());
  out.Put(static_cast<uint8_t>((order.value.has_value() ? 1 : 0) | (order.tasks.has_value() ? 2 : 0)));
  if (order.value.has_value()) out.Put(*order.value);
  if (!order.tasks.has_value()) return;
  out.PutVarint(order.tasks->size());
  for (const std::string& task : *order.tasks) out.PutString(task);
}

std::optional<TargetOrder> LoadOrder(ByteReader& in) {
  TargetOrder order;
  order.decision = in.GetVarint();
  order.job = in.GetString();
  const std::optional<Target> target = Target::FromCode(in.Get<uint8_t>());
  const auto flags = in.Get<uint8_t>();
  if (in.failed() || order.decision == 0 || !target.has_value() || flags > 3) return std::nullopt;
  order.target = *target;
  if ((flags & 1) != 0) order.value = in.Get<double>();
  if (order.value.has_value() && !(std::isfinite(*order.value) && *order.value >= 0)) return std::nullopt;
  if ((flags & 2) == 0) return in.failed() ? std::nullopt : std::optional(std::move(order));
  const uint64_t tasks = in.GetVarint();
  if (in.failed() || tasks > kMaxTasks || tasks > in.remaining()) return std::nullopt;
  order.tasks.emplace();
  for (uint64_t i = 0; i < tasks; ++i) order.tasks->emplace_back(in.GetString());
  return in.failed() ? std::nullopt : std::optional(std::move(order));
}

}  // namespace taut::server
