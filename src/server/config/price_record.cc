#include "server/config/price_record.h"

#include <utility>

#include "absl/strings/escaping.h"
#include "brain/economy/metering.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "common/settings/yaml_walk.h"
#include "server/config/price_file.h"

namespace taut::server {
namespace {

absl::Status ReadSecond(const YAML::Node& node, std::string_view name, std::string_view key, int64_t& out) {
  if (YAML::convert<int64_t>::decode(node, out)) return absl::OkStatus();
  return ErrorAt(name, node, StrCat(key, ": expected a whole number of seconds"));
}

absl::Status ReadChange(const YAML::Node& item, std::string_view name, PriceRecord& record) {
  brain::SeenPriceChange seen;
  const absl::Status s =
      ForEachEntry(item, name, "a change", [&](const YAML::Node& key, const YAML::Node& value) {
        if (key.Scalar() == "time") return ReadSecond(value, name, "time", seen.seen_s);
        if (key.Scalar() == "from") return ReadSecond(value, name, "from", seen.change.from_s);
        if (key.Scalar() == "to") return ReadSecond(value, name, "to", seen.change.to_s);
        if (key.Scalar() == "what") return Take(TextOf(value, name, "what"), seen.change.what);
        constexpr std::string_view kKeys[] = {"time", "from", "to", "what"};
        return UnknownKeyAt(name, key, key.Scalar(), kKeys);
      });
  if (s.ok()) record.changes.push_back(std::move(seen));
  return s;
}

}  // namespace

std::string ToText(const PriceRecord& record) {
  YAML::Emitter out;
  out << YAML::Comment(
      "Written by tautd: the price file that bills are made by, and what was changed of the past.");
  out << YAML::BeginMap << YAML::Key << "changes" << YAML::Value << YAML::BeginSeq;
  for (const brain::SeenPriceChange& seen : record.changes) {
    out << YAML::Flow << YAML::BeginMap << YAML::Key << "time" << YAML::Value << seen.seen_s << YAML::Key
        << "from" << YAML::Value << seen.change.from_s << YAML::Key << "to" << YAML::Value << seen.change.to_s
        << YAML::Key << "what" << YAML::Value << YAML::DoubleQuoted << seen.change.what << YAML::EndMap;
  }
  out << YAML::EndSeq << YAML::Key << "file" << YAML::Value << absl::Base64Escape(record.file)
      << YAML::EndMap;
  return StrCat(out.c_str(), "\n");
}

absl::StatusOr<PriceRecord> ParsePriceRecord(std::string_view yaml, std::string_view name) {
  PriceRecord record;
  const absl::Status s = WalkFilledYaml(yaml, name, "prices", [&](const YAML::Node& root) {
    return ForEachEntry(root, name, "a record", [&](const YAML::Node& key, const YAML::Node& value) {
      if (key.Scalar() == "file") {
        std::string text;
        if (absl::Status s = Take(TextOf(value, name, "file"), text); !s.ok()) return s;
        return absl::Base64Unescape(text, &record.file) ? absl::OkStatus()
                                                        : ErrorAt(name, value, "file: expected base64");
      }
      if (key.Scalar() == "changes")
        return ForEachMap(value, name, "changes",
                          [&](const YAML::Node& item) { return ReadChange(item, name, record); });
      constexpr std::string_view kKeys[] = {"file", "changes"};
      return UnknownKeyAt(name, key, key.Scalar(), kKeys);
    });
  });
  if (!s.ok()) return s;
  return record;
}

std::vector<brain::SeenPriceChange> TakePriceFile(std::string file, const brain::Pricing& pricing,
                                                  int64_t now_s, PriceRecord& record) {
  std::vector<brain::SeenPriceChange> added;
  if (!record.file.empty() && record.file != file) {
    if (const absl::StatusOr<brain::Pricing> before = ParsePriceFile(record.file, "prices"); before.ok()) {
      for (brain::PriceChange& change : brain::ChangesBefore(*before, pricing, now_s))
        added.push_back({now_s, std::move(change)});
    } else {
      added.push_back({now_s, {-brain::kMaxBillSeconds, now_s, "the prices before can no longer be read"}});
    }
  }
  record.file = std::move(file);
  record.changes.insert(record.changes.end(), added.begin(), added.end());
  if (record.changes.size() > kMostPriceChanges)
    record.changes.erase(record.changes.begin(), record.changes.end() - kMostPriceChanges);
  return added;
}

}  // namespace taut::server
