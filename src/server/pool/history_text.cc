#include "server/pool/history_text.h"

#include <utility>

#include "common/base/json_writer.h"
#include "common/base/strings.h"
#include "common/json/json_tree.h"

namespace taut::server {
namespace {

constexpr int64_t kHistoryVersion = 1;

// Reads triples of hour, used quota, and usage; null: absent.
bool ReadHours(JsonNode numbers, std::vector<brain::QuotaHour>& out) {
  size_t i = 0;
  bool good = numbers.is_array();
  numbers.ForEachItem([&](JsonNode item) {
    const std::optional<int64_t> number = item.whole();
    if (i % 3 == 0) out.emplace_back();
    if (i % 3 == 2) {
      out.back().usage = number;
      good = good && (number.has_value() || item.is_null());
    } else {
      (i % 3 == 0 ? out.back().hour : out.back().in_use) = number.value_or(0);
      good = good && number.has_value();
    }
    ++i;
  });
  return good && i % 3 == 0;
}

}  // namespace

std::string EncodeState(const brain::QuotaHistory& history, const std::optional<QuotaGap>& gap) {
  JsonWriter json;
  json.BeginObject();
  json.Field("version", kHistoryVersion);
  if (gap.has_value()) {
    json.Field("settled_at_us", gap->settled_at.us);
    json.Field("counted_from_s", gap->counted_from_s);
  }
  json.Key("places");
  json.BeginArray();
  for (const auto& [place, hours] : history.places()) {
    json.BeginObject();
    json.Field("group", std::string_view(place.group));
    json.Field("tier", std::string_view(place.tier));
    json.Field("resource", std::string_view(place.resource));
    json.Key("hours");
    json.BeginArray();
    for (const brain::QuotaHour& hour : hours) {
      json.Int(hour.hour);
      json.Int(hour.in_use);
      if (hour.usage.has_value()) {
        json.Int(*hour.usage);
      } else {
        json.Null();
      }
    }
    json.EndArray();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
  return json.Take();
}

absl::StatusOr<QuotaState> DecodeState(std::string_view text) {
  JsonTree tree;
  if (absl::Status s = tree.Parse(text); !s.ok()) return s;
  const JsonNode root = tree.root();
  if (root.Whole("version") != kHistoryVersion || !root["places"].is_array()) {
    return absl::DataLossError(
        StrCat("not a history of quota: expected an object with version ", kHistoryVersion, " and places"));
  }
  QuotaState out;
  if (const std::optional<int64_t> at = root["settled_at_us"].whole(); at.has_value())
    out.gap = QuotaGap{{*at}, root.Whole("counted_from_s")};
  absl::Status status;
  root["places"].ForEachItem([&](JsonNode node) {
    const brain::QuotaPlace place{std::string(node.Text("group")), std::string(node.Text("tier")),
                                  std::string(node.Text("resource"))};
    std::vector<brain::QuotaHour> hours;
    if (!ReadHours(node["hours"], hours) || !out.history.Restore(place, std::move(hours)))
      status = absl::DataLossError(StrCat("wrong hours of group \"", place.group, "\""));
  });
  if (!status.ok()) return status;
  return out;
}

}  // namespace taut::server
