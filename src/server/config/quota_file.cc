#include "server/config/quota_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "absl/strings/numbers.h"
#include "absl/time/time.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "common/settings/setting_field.h"
#include "common/settings/yaml_walk.h"

namespace taut::server {
namespace {

absl::StatusOr<Timestamp> ParseTime(const std::string& text) {
  absl::Time time;
  std::string error;
  if (absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return Timestamp{absl::ToUnixMicros(time)};
  return absl::InvalidArgumentError(
      StrCat("until: \"", text, "\" is not a time; expected one such as 2026-03-01T12:00:00Z"));
}

class QuotaReader {
 public:
  explicit QuotaReader(std::string_view name) : name_(name) {}

  absl::StatusOr<QuotaFile> Read(const YAML::Node& root) {
    constexpr std::array<std::string_view, 4> kKeys = {"groups", "pools", "capacity", "in_use"};
    const absl::Status s =
        ForEachEntry(root, name_, "the quota file", [&](const YAML::Node& key, const YAML::Node& value) {
          const std::string& k = key.Scalar();
          if (k == "groups")
            return ForEachMap(value, name_, k, [this](const YAML::Node& item) { return ReadGroup(item); });
          if (k == "pools")
            return ForEachMap(value, name_, k, [this](const YAML::Node& item) { return ReadPool(item); });
          if (k == "capacity")
            return ForEachMap(value, name_, k, [this](const YAML::Node& item) { return ReadCapacity(item); });
          if (k == "in_use")
            return ForEachMap(value, name_, k, [this](const YAML::Node& item) { return ReadUse(item); });
          return UnknownKeyAt(name_, key, key.Scalar(), kKeys);
        });
    if (!s.ok()) return s;
    std::ranges::stable_sort(out_.releases, {}, &brain::ExpectedRelease::at);
    return std::move(out_);
  }

 private:
  absl::Status ReadText(const YAML::Node& key, const YAML::Node& value, std::string& out) const {
    return Take(TextOf(value, name_, key.Scalar()), out);
  }
  absl::Status ReadTexts(const YAML::Node& key, const YAML::Node& value,
                         std::vector<std::string>& out) const {
    return Take(TextsOf(value, name_, key.Scalar()), out);
  }
  absl::Status ReadAmount(const YAML::Node& key, const YAML::Node& value, std::string_view resource,
                          int64_t& out) const {
    std::string text;
    if (absl::Status s = ReadText(key, value, text); !s.ok()) return s;
    const absl::StatusOr<int64_t> amount = brain::ParseQuotaAmount(resource, text);
    if (!amount.ok()) return ErrorAt(name_, key, StrCat(key.Scalar(), ": ", Message(amount.status())));
    out = *amount;
    return absl::OkStatus();
  }

  absl::Status ReadCount(const YAML::Node& key, const YAML::Node& value, int64_t& out) const {
    constexpr int64_t kMost = 1'000'000;
    std::string text;
    if (absl::Status s = ReadText(key, value, text); !s.ok()) return s;
    if (absl::SimpleAtoi(text, &out) && out >= 0 && out <= kMost) return absl::OkStatus();
    return ErrorAt(name_, key, StrCat(key.Scalar(), ": \"", text, "\": expected 0 to ", kMost));
  }

  absl::Status ReadGroup(const YAML::Node& node) {
    constexpr std::array<std::string_view, 4> kKeys = {"name", "parent", "quotas", "max_requests"};
    brain::QuotaGroup group;
    const absl::Status s =
        ForEachEntry(node, name_, "a group", [&](const YAML::Node& key, const YAML::Node& value) {
          if (key.Scalar() == "name") return ReadText(key, value, group.name);
          if (key.Scalar() == "parent") return ReadText(key, value, group.parent);
          if (key.Scalar() == "max_requests") return ReadCount(key, value, group.max_requests.emplace());
          if (key.Scalar() == "quotas")
            return ForEachMap(value, name_, "quotas",
                              [&](const YAML::Node& item) { return ReadRow(item, group); });
          return UnknownKeyAt(name_, key, key.Scalar(), kKeys);
        });
    if (s.ok()) out_.spec.groups.push_back(std::move(group));
    return s;
  }
  // Reads the resource first, because it determines how amounts are parsed.
  absl::Status ReadRow(const YAML::Node& node, brain::QuotaGroup& group) const {
    constexpr std::array<std::string_view, 5> kKeys = {"tier", "resource", "nominal", "borrowing_limit",
                                                       "lending_limit"};
    brain::QuotaRow row;
    const auto text = [&](const char* key) {
      const YAML::Node value = node[key];
      return value.IsDefined() && value.IsScalar() ? value.Scalar() : std::string();
    };
    row.resource = text("resource");
    row.tier = text("tier");
    if (row.resource.empty() || row.tier.empty())
      return ErrorAt(name_, node, "expected a quota with tier, resource and nominal");
    const absl::Status s =
        ForEachEntry(node, name_, "a quota", [&](const YAML::Node& key, const YAML::Node& value) {
          const std::string& k = key.Scalar();
          if (k == "tier" || k == "resource") return absl::OkStatus();
          if (k == "nominal") return ReadAmount(key, value, row.resource, row.nominal);
          if (k == "borrowing_limit")
            return ReadAmount(key, value, row.resource, row.borrowing_limit.emplace());
          if (k == "lending_limit") return ReadAmount(key, value, row.resource, row.lending_limit.emplace());
          return UnknownKeyAt(name_, key, key.Scalar(), kKeys);
        });
    if (s.ok()) group.quotas.push_back(std::move(row));
    return s;
  }
  absl::Status ReadPool(const YAML::Node& node) {
    constexpr std::array<std::string_view, 3> kKeys = {"name", "members", "tiers"};
    brain::QuotaPool pool;
    const absl::Status s =
        ForEachEntry(node, name_, "a pool", [&](const YAML::Node& key, const YAML::Node& value) {
          if (key.Scalar() == "name") return ReadText(key, value, pool.name);
          if (key.Scalar() == "members") return ReadTexts(key, value, pool.members);
          if (key.Scalar() == "tiers") return ReadTexts(key, value, pool.tiers);
          return UnknownKeyAt(name_, key, key.Scalar(), kKeys);
        });
    if (s.ok()) out_.spec.pools.push_back(std::move(pool));
    return s;
  }
  absl::Status ReadCapacity(const YAML::Node& node) {
    constexpr std::array<std::string_view, 4> kKeys = {"resource", "amount", "availability", "oversold"};
    brain::QuotaCapacity capacity;
    const YAML::Node resource = node["resource"], amount = node["amount"];
    if (!resource.IsDefined() || !resource.IsScalar() || !amount.IsDefined())
      return ErrorAt(name_, node, "expected a capacity with resource and amount");
    capacity.resource = resource.Scalar();
    const absl::Status s =
        ForEachEntry(node, name_, "a capacity", [&](const YAML::Node& key, const YAML::Node& value) {
          const std::string& k = key.Scalar();
          if (k == "resource") return absl::OkStatus();
          if (k == "amount") return ReadAmount(key, value, capacity.resource, capacity.amount);
          if (k == "availability") return ReadAvailability(key, value, capacity.availability);
          if (k == "oversold") return ReadOversold(key, value, capacity.accepts_oversold);
          return UnknownKeyAt(name_, key, k, kKeys);
        });
    if (s.ok()) out_.spec.capacity.push_back(std::move(capacity));
    return s;
  }
  absl::Status ReadAvailability(const YAML::Node& key, const YAML::Node& value, double& out) const {
    std::string text;
    if (absl::Status s = ReadText(key, value, text); !s.ok()) return s;
    out = ParseQuantity(FieldUnit::kPlain, text).value_or(0);
    if (out > 0 && out <= 1) return absl::OkStatus();
    return ErrorAt(name_, key, StrCat("availability: \"", text, "\": expected above 0 and at most 100%"));
  }
  absl::Status ReadOversold(const YAML::Node& key, const YAML::Node& value, bool& accepts) const {
    std::string text;
    if (absl::Status s = ReadText(key, value, text); !s.ok()) return s;
    accepts = text == "accept";
    if (accepts || text == "refuse") return absl::OkStatus();
    return ErrorAt(name_, key, StrCat("oversold: \"", text, "\": expected accept or refuse"));
  }
  // Every key except the known keys is the name of a resource.
  absl::Status ReadUse(const YAML::Node& node) {
    brain::QuotaUse use;
    std::string until;
    const absl::Status s =
        ForEachEntry(node, name_, "what is in use", [&](const YAML::Node& key, const YAML::Node& value) {
          const std::string& k = key.Scalar();
          if (k == "group") return ReadText(key, value, use.group);
          if (k == "tier") return ReadText(key, value, use.tier);
          if (k == "until") return ReadText(key, value, until);
          int64_t amount = 0;
          const absl::Status read = ReadAmount(key, value, k, amount);
          if (read.ok()) use.amounts.Set(k, amount);
          return read;
        });
    if (!s.ok()) return s;
    if (use.group.empty() || use.tier.empty())
      return ErrorAt(name_, node, "expected group and tier of what is in use");
    if (!until.empty()) {
      const absl::StatusOr<Timestamp> at = ParseTime(until);
      if (!at.ok()) return ErrorAt(name_, node, Message(at.status()));
      out_.releases.push_back({*at, use});
    }
    out_.in_use.push_back(std::move(use));
    return absl::OkStatus();
  }

  const std::string_view name_;
  QuotaFile out_;
};

}  // namespace

absl::StatusOr<QuotaFile> ParseQuotaFile(std::string_view yaml, std::string_view name) {
  QuotaFile out;
  const absl::Status s = WalkFilledYaml(
      yaml, name, "groups", [&](const YAML::Node& root) { return Take(QuotaReader(name).Read(root), out); });
  if (!s.ok()) return s;
  return out;
}

absl::StatusOr<QuotaFile> ReadQuotaFile(const std::string& path) {
  const absl::StatusOr<std::string> yaml = ReadYamlFile(path, "quota file");
  if (!yaml.ok()) return yaml.status();
  return ParseQuotaFile(*yaml, path);
}

}  // namespace taut::server
