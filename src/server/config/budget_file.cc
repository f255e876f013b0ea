#include "server/config/budget_file.h"

#include <array>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "common/base/strings.h"
#include "common/settings/enum_name.h"
#include "common/settings/yaml_walk.h"

namespace taut::server {
namespace {

class BudgetReader {
 public:
  explicit BudgetReader(std::string_view name) : name_(name) {}

  absl::StatusOr<brain::BudgetDefinition> Read(const YAML::Node& root) {
    constexpr std::array<std::string_view, 5> kKeys = {"currency", "period", "units", "businesses", "groups"};
    const absl::Status s =
        ForEachEntry(root, name_, "the budgets file", [&](const YAML::Node& key, const YAML::Node& value) {
          const std::string& k = key.Scalar();
          if (k == "currency") return ReadText(key, value, out_.currency);
          if (k == "period") return ReadPeriod(key, value);
          if (k == "units")
            return ForEachMap(value, name_, k, [this](const YAML::Node& item) { return ReadUnit(item); });
          if (k == "businesses")
            return ForEachMap(value, name_, k, [this](const YAML::Node& item) { return ReadBusiness(item); });
          if (k == "groups")
            return ForEachMap(value, name_, k, [this](const YAML::Node& item) { return ReadGroup(item); });
          return UnknownKeyAt(name_, key, k, kKeys);
        });
    if (!s.ok()) return s;
    return std::move(out_);
  }

 private:
  absl::Status ReadText(const YAML::Node& key, const YAML::Node& value, std::string& out) const {
    return Take(TextOf(value, name_, key.Scalar()), out);
  }
  absl::Status ReadPeriod(const YAML::Node& key, const YAML::Node& value) {
    std::string text;
    if (absl::Status s = ReadText(key, value, text); !s.ok()) return s;
    const std::optional<brain::BudgetPeriod> period = brain::BudgetPeriodNamed(text);
    if (!period.has_value())
      return ErrorAt(name_, key, StrCat("period: \"", text, "\": expected month, quarter or year"));
    out_.period = *period;
    return absl::OkStatus();
  }
  absl::Status ReadMoney(const YAML::Node& key, const YAML::Node& value, brain::Money& out) const {
    std::string text;
    if (absl::Status s = ReadText(key, value, text); !s.ok()) return s;
    const absl::StatusOr<brain::Money> money = brain::ParseMoney(text);
    if (!money.ok()) return ErrorAt(name_, key, StrCat(key.Scalar(), ": ", Message(money.status())));
    out = *money;
    return absl::OkStatus();
  }
  absl::Status ReadDate(const YAML::Node& key, const YAML::Node& value, std::optional<int64_t>& out) const {
    std::string text;
    if (absl::Status s = ReadText(key, value, text); !s.ok()) return s;
    absl::CivilDay day;
    if (text.size() != 10 || !absl::ParseCivilTime(text, &day) || day.year() < 1970)
      return ErrorAt(name_, key, StrCat("from: \"", text, "\": expected a date such as 2026-12-01"));
    out = absl::ToUnixSeconds(absl::FromCivil(day, absl::UTCTimeZone()));
    return absl::OkStatus();
  }
  // Parses a share into basis points.
  absl::Status ReadShare(const YAML::Node& key, const YAML::Node& value, int64_t& out) const {
    std::string text;
    if (absl::Status s = ReadText(key, value, text); !s.ok()) return s;
    const std::optional<int64_t> share = brain::ParseShare(text);
    if (!share.has_value())
      return ErrorAt(name_, key,
                     StrCat(key.Scalar(), ": \"", text, "\": expected a share such as 70% or 33.33%"));
    out = *share;
    return absl::OkStatus();
  }

  // A unit has one rate without a date under `rate`, or several rates with `from` under `rates`.
  absl::Status ReadUnit(const YAML::Node& node) {
    constexpr std::array<std::string_view, 3> kKeys = {"name", "rate", "rates"};
    brain::BudgetDefinition::Unit unit;
    const absl::Status s =
        ForEachEntry(node, name_, "a unit", [&](const YAML::Node& key, const YAML::Node& value) {
          const std::string& k = key.Scalar();
          if (k == "name") return ReadText(key, value, unit.name);
          if (k == "rate") return ReadMoney(key, value, unit.rates.emplace_back().second);
          if (k == "rates")
            return ForEachMap(value, name_, k, [&](const YAML::Node& item) {
              return ReadRateStep(item, unit.rates.emplace_back());
            });
          return UnknownKeyAt(name_, key, k, kKeys);
        });
    if (s.ok()) out_.units.push_back(std::move(unit));
    return s;
  }
  absl::Status ReadRateStep(const YAML::Node& node,
                            std::pair<std::optional<int64_t>, brain::Money>& step) const {
    constexpr std::array<std::string_view, 2> kKeys = {"from", "rate"};
    return ForEachEntry(node, name_, "a rate", [&](const YAML::Node& key, const YAML::Node& value) {
      if (key.Scalar() == "from") return ReadDate(key, value, step.first);
      if (key.Scalar() == "rate") return ReadMoney(key, value, step.second);
      return UnknownKeyAt(name_, key, key.Scalar(), kKeys);
    });
  }

  absl::Status ReadBusiness(const YAML::Node& node) {
    constexpr std::array<std::string_view, 5> kKeys = {"name", "budget", "unit", "carry_over", "carry_cap"};
    brain::BudgetDefinition::BusinessRow row;
    const absl::Status s =
        ForEachEntry(node, name_, "a business", [&](const YAML::Node& key, const YAML::Node& value) {
          const std::string& k = key.Scalar();
          if (k == "name") return ReadText(key, value, row.name);
          if (k == "budget") return ReadMoney(key, value, row.per_period);
          if (k == "unit") return ReadText(key, value, row.unit);
          if (k == "carry_over") return ReadCarry(key, value, row.carry.share_bp);
          if (k == "carry_cap") return ReadMoney(key, value, row.carry.cap.emplace());
          return UnknownKeyAt(name_, key, k, kKeys);
        });
    if (s.ok()) out_.businesses.push_back(std::move(row));
    return s;
  }
  absl::Status ReadCarry(const YAML::Node& key, const YAML::Node& value, int64_t& out) const {
    const std::string text = value.IsScalar() ? value.Scalar() : std::string();
    if (text == "none" || text == "all") {
      out = text == "all" ? brain::kWholeBasisPoints : 0;
      return absl::OkStatus();
    }
    if (text.ends_with('%')) return ReadShare(key, value, out);
    return ErrorAt(name_, key,
                   StrCat("carry_over: \"", text, "\": expected none, all or a share such as 50%"));
  }

  absl::Status ReadGroup(const YAML::Node& node) {
    constexpr std::array<std::string_view, 4> kKeys = {"name", "shares", "funding", "when_spent"};
    brain::BudgetDefinition::GroupRow row;
    const absl::Status s =
        ForEachEntry(node, name_, "a group", [&](const YAML::Node& key, const YAML::Node& value) {
          const std::string& k = key.Scalar();
          if (k == "name") return ReadText(key, value, row.name);
          if (k == "shares") return ReadShares(value, row.funding.emplace_back().second);
          if (k == "when_spent") return ReadWhenSpent(key, value, row.when_spent);
          if (k == "funding")
            return ForEachMap(value, name_, k, [&](const YAML::Node& item) {
              return ReadFundingStep(item, row.funding.emplace_back());
            });
          return UnknownKeyAt(name_, key, k, kKeys);
        });
    if (s.ok()) out_.groups.push_back(std::move(row));
    return s;
  }
  absl::Status ReadWhenSpent(const YAML::Node& key, const YAML::Node& value, brain::WhenSpent& out) const {
    constexpr std::array<EnumName<brain::WhenSpent>, 2> kNames = {
        {{brain::WhenSpent::kContinue, "continue"}, {brain::WhenSpent::kRefuse, "refuse"}}};
    std::string text;
    if (absl::Status s = ReadText(key, value, text); !s.ok()) return s;
    const absl::Status s = SetByName<brain::WhenSpent>(kNames, text, out);
    return s.ok() ? s : ErrorAt(name_, key, StrCat("when_spent: ", Message(s)));
  }
  absl::Status ReadFundingStep(
      const YAML::Node& node, std::pair<std::optional<int64_t>, std::vector<brain::BudgetPart>>& step) const {
    constexpr std::array<std::string_view, 2> kKeys = {"from", "shares"};
    return ForEachEntry(node, name_, "funding", [&](const YAML::Node& key, const YAML::Node& value) {
      if (key.Scalar() == "from") return ReadDate(key, value, step.first);
      if (key.Scalar() == "shares") return ReadShares(value, step.second);
      return UnknownKeyAt(name_, key, key.Scalar(), kKeys);
    });
  }
  absl::Status ReadShares(const YAML::Node& map, std::vector<brain::BudgetPart>& out) const {
    return ForEachEntry(map, name_, "shares", [&](const YAML::Node& key, const YAML::Node& value) {
      brain::BudgetPart& part = out.emplace_back();
      part.holder = brain::Business(key.Scalar());
      return ReadShare(key, value, part.share_bp);
    });
  }

  const std::string_view name_;
  brain::BudgetDefinition out_;
};

}  // namespace

absl::StatusOr<brain::BudgetDefinition> ParseBudgetFile(std::string_view yaml, std::string_view name) {
  brain::BudgetDefinition out;
  const absl::Status s = WalkFilledYaml(yaml, name, "businesses", [&](const YAML::Node& root) {
    return Take(BudgetReader(name).Read(root), out);
  });
  if (!s.ok()) return s;
  return out;
}

absl::StatusOr<brain::BudgetDefinition> ReadBudgetFile(const std::string& path) {
  const absl::StatusOr<std::string> yaml = ReadYamlFile(path, "budgets file");
  if (!yaml.ok()) return yaml.status();
  return ParseBudgetFile(*yaml, path);
}

}  // namespace taut::server
