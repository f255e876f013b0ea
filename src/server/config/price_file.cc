#include "server/config/price_file.h"

#include <array>
#include <cmath>
#include <functional>
#include <span>

#include "absl/time/time.h"
#include "common/base/nearest.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "common/settings/yaml_walk.h"

namespace taut::server {
namespace {

// Parses a date such as "2026-01-01" (UTC), or a duration since the start of a trace's own clock, such as "12d".
absl::StatusOr<int64_t> ParseFrom(const std::string& text, PriceClock times) {
  absl::Time time;
  std::string error;
  if (absl::ParseTime("%Y-%m-%d", text, absl::UTCTimeZone(), &time, &error)) return absl::ToUnixSeconds(time);
  if (times == PriceClock::kDates) {
    return absl::InvalidArgumentError(StrCat(
        "from: \"", text,
        "\": expected a date such as 2026-01-01; durations are of a trace with a clock of its own, and "
        "this is Unix time"));
  }
  const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(text);
  if (seconds.ok()) return seconds;
  return absl::InvalidArgumentError(StrCat(
      "from: \"", text, "\" is not a date; expected one such as 2026-01-01, or 12d on the trace's clock"));
}

absl::StatusOr<int64_t> ParseShare(std::string_view key, const std::string& text) {
  const std::optional<double> share = ParseDouble(text);
  if (share.has_value() && *share >= 0 && *share <= 1) {
    return static_cast<int64_t>(*share * static_cast<double>(brain::kWholePpm) + 0.5);
  }
  return absl::InvalidArgumentError(
      StrCat(key, ": \"", text, "\": expected a share from 0 to 1, such as 0.98"));
}

class PriceReader {
 public:
  PriceReader(std::string_view name, PriceClock times) : name_(name), times_(times) {}

  absl::StatusOr<brain::Pricing> Read(const YAML::Node& root) {
    constexpr std::array<std::string_view, 5> kKeys = {"currency", "tiers", "jobs", "groups", "pool"};
    YAML::Node jobs;  // rules of jobs, parsed after the tiers to which the rules refer
    absl::Status s =
        ForEachEntry(root, name_, "the price file", [&](const YAML::Node& key, const YAML::Node& value) {
          const std::string& k = key.Scalar();
          if (k == "currency") return Take(TextOf(value, name_, k), sheet_.currency);
          if (k == "tiers")
            return ForEachItem(value, name_, k, [this](const YAML::Node& item) { return ReadTier(item); });
          if (k == "jobs") return jobs = value, absl::OkStatus();
          if (k == "groups")
            return ForEachItem(value, name_, k, [this](const YAML::Node& item) { return ReadGroup(item); });
          if (k == "pool") return ReadPool(value);
          return UnknownKeyAt(name_, key, key.Scalar(), kKeys);
        });
    if (!s.ok()) return s;
    if (s = sheet_.Check(); !s.ok()) return absl::InvalidArgumentError(StrCat(name_, ": ", Message(s)));
    if (jobs.IsDefined() && !jobs.IsNull()) {
      s = ForEachItem(jobs, name_, "jobs", [this](const YAML::Node& item) { return ReadJob(item); });
      if (!s.ok()) return s;
    }
    return brain::Pricing{std::move(sheet_), std::move(tier_rules_), std::move(group_rules_), pool_};
  }

 private:
  using Set = std::function<absl::Status(const std::string& text)>;
  struct Field {
    std::string_view key;
    Set set;
  };

  // Adds a field for the rate of each resource.
  static void AddRates(brain::Price& price, std::vector<Field>& fields) {
    for (const Resource r : kResources)
      fields.push_back({RowOf(r).price_key, Amount(price.per_hour[IndexOf(r)])});
  }
  // Parses a map with scalars. If `nested` is set, `read_nested` parses the value of the key `nested`.
  absl::Status Fields(const YAML::Node& map, std::string_view what, std::span<const Field> fields,
                      std::string_view nested = "",
                      const std::function<absl::Status(const YAML::Node&)>& read_nested = nullptr) const {
    if (!map.IsMap()) return ErrorAt(name_, map, StrCat("expected ", what, ": keys and values"));
    return ForEachEntry(map, name_, what, [&](const YAML::Node& key, const YAML::Node& value) {
      if (read_nested && key.Scalar() == nested) return read_nested(value);
      std::vector<std::string_view> known;
      if (!nested.empty()) known.push_back(nested);
      for (const Field& field : fields) {
        known.push_back(field.key);
        if (field.key != key.Scalar()) continue;
        const absl::StatusOr<std::string> text = TextOf(value, name_, field.key);
        if (!text.ok()) return text.status();
        const absl::Status s = field.set(*text);
        return s.ok() ? s : ErrorAt(name_, key, Message(s));
      }
      return UnknownKeyAt(name_, key, key.Scalar(), known);
    });
  }
  static Set Amount(brain::Money& out) {
    return [&out](const std::string& text) { return Take(brain::ParseMoney(text), out); };
  }
  static Set Text(std::string& out) {
    return [&out](const std::string& text) { return out = text, absl::OkStatus(); };
  }

  absl::Status ReadTier(const YAML::Node& node) {
    brain::PriceTier tier;
    tier.obtainability_ppm = tier.availability_ppm = brain::kWholePpm;
    const Field fields[] = {
        {"name", Text(tier.name)},
        {"rule", [&](const std::string& text) { return Take(brain::ChargeRuleNamed(text), tier.rule); }},
        {"obtainability",
         [&](const std::string& text) {
           return Take(ParseShare("obtainability", text), tier.obtainability_ppm);
         }},
        {"availability",
         [&](const std::string& text) {
           return Take(ParseShare("availability", text), tier.availability_ppm);
         }},
        {"service_credit", [&](const std::string& text) {
           return Take(ParseShare("service_credit", text), tier.service_credit_ppm);
         }}};
    const auto prices = [&](const YAML::Node& list) {
      return ForEachItem(list, name_, "prices",
                         [&](const YAML::Node& item) { return ReadPrice(item, tier); });
    };
    if (absl::Status s = Fields(node, "a tier", fields, "prices", prices); !s.ok()) return s;
    sheet_.tiers.push_back(std::move(tier));
    return absl::OkStatus();
  }
  absl::Status ReadPrice(const YAML::Node& node, brain::PriceTier& tier) const {
    brain::Price price;
    price.from_s = -brain::kMaxBillSeconds;
    std::vector<Field> fields = {
        {"from", [&](const std::string& text) { return Take(ParseFrom(text, times_), price.from_s); }}};
    AddRates(price, fields);
    if (absl::Status s = Fields(node, "a price", fields); !s.ok()) return s;
    tier.prices.push_back(price);
    return absl::OkStatus();
  }
  absl::Status ReadJob(const YAML::Node& node) {
    brain::TierRule rule;
    std::string tier;
    const Field fields[] = {{"match", Text(rule.match)},
                            {"priority", [&](const std::string& text) { return ReadPriority(text, rule); }},
                            {"tier", Text(tier)}};
    if (absl::Status s = Fields(node, "a rule for jobs", fields); !s.ok()) return s;
    const std::optional<uint16_t> found = sheet_.TierNamed(tier);
    if (!found.has_value()) return ErrorAt(name_, node, UnknownTier(tier));
    if (rule.match.empty() && !rule.least_priority.has_value())
      return ErrorAt(name_, node, "match is empty; * stands for any text");
    if (rule.match.empty()) rule.match = "*";
    rule.tier = *found;
    tier_rules_.push_back(std::move(rule));
    return absl::OkStatus();
  }
  // Parses "200" or "120-359".
  static absl::Status ReadPriority(const std::string& text, brain::TierRule& rule) {
    const std::vector<std::string_view> bounds = Split(text, '-');
    std::vector<int> numbers;
    for (const std::string_view bound : bounds) {
      const std::optional<double> number = ParseDouble(StripSpace(bound));
      if (number.has_value() && *number == std::floor(*number) && *number >= 0 && *number <= 1e9)
        numbers.push_back(static_cast<int>(*number));
    }
    if (numbers.size() != bounds.size() || numbers.size() > 2 || numbers.front() > numbers.back())
      return absl::InvalidArgumentError(
          StrCat("priority: \"", text, "\": expected a number or a range such as 120-359"));
    rule.least_priority = numbers.front();
    rule.most_priority = numbers.back();
    return absl::OkStatus();
  }
  std::string UnknownTier(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const brain::PriceTier& tier : sheet_.tiers) names.push_back(tier.name);
    return StrCat("\"", name, "\" is not a tier; did you mean \"", NearestName(name, names), "\"?");
  }
  absl::Status ReadGroup(const YAML::Node& node) {
    std::string match, group;
    const Field fields[] = {{"match", Text(match)}, {"group", Text(group)}};
    if (absl::Status s = Fields(node, "a rule for groups", fields); !s.ok()) return s;
    if (match.empty() || group.empty()) return ErrorAt(name_, node, "expected match and group, not empty");
    group_rules_.emplace_back(match, group);
    return absl::OkStatus();
  }
  absl::Status ReadPool(const YAML::Node& node) {
    brain::PoolPrices pool;
    std::vector<Field> fields = {
        {"cores",
         [&](const std::string& text) {
           const std::optional<double> cores = ParseDouble(text);
           pool.cores = cores.value_or(-1);
           if (pool.cores >= 0 && pool.cores <= 1e9) return absl::OkStatus();
           return absl::InvalidArgumentError(StrCat("cores: \"", text, "\": expected 0 to 1e9"));
         }},
        {"memory", [&](const std::string& text) { return Take(ParseSize(text), pool.memory_bytes); }},
        {"idle", [&](const std::string& text) { return Take(brain::CostSharingNamed(text), pool.idle); }}};
    AddRates(pool.cost, fields);
    if (absl::Status s = Fields(node, "the pool", fields); !s.ok()) return s;
    if (pool.cost.has_negative()) return ErrorAt(name_, node, "the pool's cost is negative");
    pool_ = pool;
    return absl::OkStatus();
  }

  const std::string_view name_;
  const PriceClock times_;
  brain::PriceSheet sheet_;
  std::vector<brain::TierRule> tier_rules_;
  std::vector<std::pair<std::string, std::string>> group_rules_;
  std::optional<brain::PoolPrices> pool_;
};

}  // namespace

absl::StatusOr<brain::Pricing> ParsePriceFile(std::string_view yaml, std::string_view name,
                                              PriceClock times) {
  brain::Pricing out;
  const absl::Status s = WalkFilledYaml(yaml, name, "tiers", [&](const YAML::Node& root) {
    return Take(PriceReader(name, times).Read(root), out);
  });
  if (!s.ok()) return s;
  return out;
}

absl::StatusOr<std::string> ReadPriceText(const std::string& path) {
  return ReadYamlFile(path, "price file");
}

}  // namespace taut::server
