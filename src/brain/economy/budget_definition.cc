#include "brain/economy/budget_definition.h"

#include <algorithm>
#include <set>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

template <typename T>
bool Same(const T& a, const T& b) {
  return a == b;
}
bool Same(const std::vector<BudgetPart>& a, const std::vector<BudgetPart>& b) {
  const auto sorted = [](std::vector<BudgetPart> parts) {
    std::ranges::sort(parts, {}, &BudgetPart::holder);
    return parts;
  };
  return sorted(a) == sorted(b);
}

class BudgetCheck {
 public:
  explicit BudgetCheck(const BudgetDefinition& of) : of_(of) {}

  std::vector<std::string> Run(std::span<const std::string> known_groups) {
    if (of_.currency.empty())
      Say("currency", "expected the name of the currency in which spending is counted");
    for (const BudgetDefinition::Unit& unit : of_.units) CheckUnit(unit);
    for (const BudgetDefinition::BusinessRow& row : of_.businesses) CheckBusiness(row);
    for (const BudgetDefinition::GroupRow& row : of_.groups) CheckGroup(row, known_groups);
    return std::move(out_);
  }

 private:
  void Say(std::string_view where, std::string_view what) {
    out_.push_back(StrCat(Printable(where), ": ", what));
  }

  bool CheckName(std::string_view what, const std::string& name, std::set<std::string>& seen) {
    constexpr size_t kMostName = 200;
    if (name.empty() || name.size() > kMostName || Printable(name) != name) {
      Say(what, StrCat("name \"", Printable(name.substr(0, kMostName)), "\": expected 1 to ", kMostName,
                       " printable characters"));
      return false;
    }
    if (seen.insert(name).second) return true;
    Say(StrCat(what, " ", name), "is there twice");
    return false;
  }

  template <typename T>
  void CheckSteps(const std::string& where, const DefinedSteps<T>& steps) {
    std::optional<int64_t> last;
    for (size_t i = 0; i < steps.size(); ++i) {
      const std::optional<int64_t>& from = steps[i].first;
      if (!from.has_value() && i > 0) Say(where, "only the first step can be without a date");
      if (!from.has_value()) continue;
      if (*from % kDaySeconds != 0 || *from < 0)
        Say(where, "expected a date, which is a day of UTC from 1970 on");
      if (last.has_value() && *from <= *last)
        Say(where,
            StrCat("the step from ", DateText(*from), " does not come after that from ", DateText(*last)));
      last = from;
    }
  }

  void CheckUnit(const BudgetDefinition::Unit& unit) {
    const std::string where = StrCat("unit ", unit.name);
    if (!CheckName("unit", unit.name, units_)) return;
    if (unit.name == of_.currency) Say(where, "is the currency, whose rate is 1");
    if (unit.rates.empty()) Say(where, StrCat("has no rate: expected what one is worth in ", of_.currency));
    CheckSteps(where, unit.rates);
    for (const auto& [from, rate] : unit.rates) {
      if (rate.micros <= 0 || rate > kMostBudgetAmount)
        Say(where, StrCat("rate ", ToText(rate), ": expected more than 0 to ", ToText(kMostBudgetAmount)));
    }
  }

  void CheckBusiness(const BudgetDefinition::BusinessRow& row) {
    const std::string where = StrCat("business ", row.name);
    if (!CheckName("business", row.name, businesses_)) return;
    if (!row.unit.empty() && row.unit != of_.currency && !units_.contains(row.unit)) {
      Say(where, StrCat("unit \"", Printable(row.unit), "\" has no conversion: spending is counted in ",
                        of_.currency, "; expected ", of_.currency, " or one of `units`"));
    }
    if (row.per_period.micros < 0 || row.per_period > kMostBudgetAmount)
      Say(where, StrCat("budget ", ToText(row.per_period), ": expected 0 to ", ToText(kMostBudgetAmount)));
    if (row.carry.share_bp < 0 || row.carry.share_bp > kWholeBasisPoints)
      Say(where, "carry_over: expected a share from 0 to 100 %");
    if (row.carry.cap.value_or(Money{0}).micros < 0) Say(where, "carry_over: expected a cap of 0 or more");
  }

  void CheckGroup(const BudgetDefinition::GroupRow& row, std::span<const std::string> known_groups) {
    const std::string where = StrCat("group ", row.name);
    if (!CheckName("group", row.name, groups_)) return;
    if (std::ranges::find(known_groups, row.name) == known_groups.end())
      Say(where, "is not a group of the quota file, by whose rules jobs find their group");
    CheckSteps(where, row.funding);
    for (const auto& [from, parts] : row.funding) {
      std::set<BudgetHolder> seen;
      int64_t sum = 0;
      bool fine = true;
      for (const BudgetPart& part : parts) {
        sum += part.share_bp;
        fine = fine && part.share_bp > 0 && part.share_bp <= kWholeBasisPoints;
        if (!businesses_.contains(part.holder.name))
          Say(where, StrCat("no business \"", Printable(part.holder.name), "\""));
        if (!seen.insert(part.holder).second)
          Say(where, StrCat("business ", Printable(part.holder.name), " is there twice"));
      }
      if (!fine) Say(where, "expected shares above 0 up to 100 %");
      if (fine && sum != kWholeBasisPoints && !parts.empty())
        Say(where,
            fmt::format("the shares add up to {:g} %: expected 100 %", static_cast<double>(sum) / 100));
    }
  }

  const BudgetDefinition& of_;
  std::set<std::string> units_, businesses_, groups_;
  std::vector<std::string> out_;
};

// Returns the steps that must be added to the timeline `line` of the accounts, so that it agrees with the
// definition.
template <typename T>
absl::StatusOr<Timeline<T>> MissingSteps(const std::string& what, const DefinedSteps<T>& defined,
                                         const Timeline<T>& line, int64_t period_from_s, int64_t now_s) {
  Timeline<T> out;
  if (line.empty()) {
    for (const auto& [from, value] : defined) {
      // If several steps are in force when they are first read, only the last step matters.
      if (from.value_or(0) <= now_s) out.clear();
      out.emplace_back(from.value_or(period_from_s), value);
    }
    return out;
  }
  const int64_t tomorrow = NextDay(now_s);
  const T* wanted = nullptr;
  std::optional<int64_t> wanted_from;
  Timeline<T> later;
  for (const auto& [from, value] : defined) {
    if (from.value_or(0) > tomorrow) {
      later.emplace_back(*from, value);
    } else {
      wanted = &value;
      wanted_from = from;
    }
  }
  const T* known = ValueAt(line, tomorrow);
  Timeline<T> known_later;
  const T* before = known;
  for (const auto& step : line) {
    if (step.first <= tomorrow) continue;
    if (before == nullptr || !Same(*before, step.second)) known_later.push_back(step);
    before = &step.second;
  }
  const bool differs = wanted != nullptr && (known == nullptr || !Same(*known, *wanted));
  const bool in_past = wanted_from.has_value() && *wanted_from < tomorrow && line.front().first <= now_s;
  if (differs && in_past) {
    return absl::FailedPreconditionError(
        StrCat(what, " from ", DateText(*wanted_from),
               " is not what the ledger has since then: give the change a date from ", DateText(tomorrow),
               " on, or none"));
  }
  if (differs) out.emplace_back(tomorrow, *wanted);
  const bool same_later = std::ranges::equal(later, known_later, [](const auto& a, const auto& b) {
    return a.first == b.first && Same(a.second, b.second);
  });
  if (differs || !same_later) out.insert(out.end(), later.begin(), later.end());
  // If the first future step of the ledger is no longer defined, a step with the value before it replaces it. The
  // new step is not redundant, because the first value in `known_later` always differs from `known`.
  const bool dropped = !differs && known != nullptr && !known_later.empty() &&
                       (later.empty() || known_later.front().first < later.front().first);
  if (dropped) out.emplace(out.begin(), known_later.front().first, *known);
  return out;
}

BudgetEntry EntryOf(BudgetAct act) {
  BudgetEntry e;
  e.act = act;
  return e;
}

// Adds rates and prices before all other entries, because businesses and spending depend on them.
absl::Status AddRates(const BudgetDefinition& def, const Price& price, const BudgetAccounts& accounts,
                      int64_t from_s, int64_t now_s, std::vector<BudgetEntry>& out) {
  const auto prices =
      MissingSteps<Price>("prices", {{std::nullopt, price}}, accounts.prices(), from_s, now_s);
  if (!prices.ok()) return prices.status();
  for (const auto& [from, value] : *prices) {
    BudgetEntry& e = out.emplace_back(EntryOf(BudgetAct::kPrices));
    e.from_s = from;
    e.price = value;
    e.price.from_s = 0;
  }
  for (const BudgetDefinition::Unit& unit : def.units) {
    const auto line = accounts.rates().find(unit.name);
    const auto steps =
        MissingSteps<Money>(StrCat("the rate of ", unit.name), unit.rates,
                            line == accounts.rates().end() ? Timeline<Money>() : line->second, from_s, now_s);
    if (!steps.ok()) return steps.status();
    for (const auto& [from, rate] : *steps) {
      BudgetEntry& e = out.emplace_back(EntryOf(BudgetAct::kRate));
      e.unit = unit.name;
      e.from_s = from;
      e.rate = rate;
    }
  }
  return absl::OkStatus();
}

absl::Status AddFunding(const BudgetDefinition& def, const BudgetAccounts& accounts, int64_t from_s,
                        int64_t now_s, std::vector<BudgetEntry>& out) {
  for (const BudgetDefinition::GroupRow& row : def.groups) {
    const BudgetHolder holder = GroupHolder(row.name);
    const HolderState* known = accounts.Find(holder);
    DefinedSteps<std::vector<BudgetPart>> defined = row.funding;
    if (defined.empty()) defined.emplace_back();
    const auto line = accounts.funding().find(row.name);
    const auto steps = MissingSteps<std::vector<BudgetPart>>(
        StrCat("funding of group ", row.name), defined,
        line == accounts.funding().end() ? Timeline<std::vector<BudgetPart>>() : line->second, from_s, now_s);
    if (!steps.ok()) return steps.status();
    for (const auto& [from, parts] : *steps) {
      BudgetEntry& e = out.emplace_back(EntryOf(BudgetAct::kFunding));
      e.of = holder;
      e.from_s = from;
      e.parts = parts;
    }
    // A group that was removed and is defined again with equal shares needs an entry, too.
    if (steps->empty() && known != nullptr && known->removed) {
      BudgetEntry& e = out.emplace_back(EntryOf(BudgetAct::kFunding));
      e.of = holder;
      e.from_s = NextDay(now_s);
      e.parts = defined.front().second;
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> CheckBudgets(const BudgetDefinition& definition,
                                      std::span<const std::string> known_groups) {
  return BudgetCheck(definition).Run(known_groups);
}

absl::StatusOr<std::vector<BudgetEntry>> ChangesTo(const BudgetDefinition& def, const Price& price,
                                                   const BudgetAccounts& accounts, int64_t now_s) {
  std::vector<BudgetEntry> out;
  if (accounts.period().is_open() && accounts.currency() != def.currency) {
    return absl::FailedPreconditionError(StrCat("the ledger is in ", Printable(accounts.currency()),
                                                ", not in ", Printable(def.currency),
                                                ": expected the same currency"));
  }
  int64_t from_s = accounts.period().from_s;
  if (!accounts.period().is_open()) {
    BudgetEntry& e = out.emplace_back(EntryOf(BudgetAct::kPeriod));
    e.unit = def.currency;
    e.from_s = from_s = PeriodBegin(def.period, now_s);
    e.until_s = PeriodEnd(def.period, now_s);
  }
  if (absl::Status s = AddRates(def, price, accounts, from_s, now_s, out); !s.ok()) return s;
  std::set<BudgetHolder> defined;
  for (const BudgetDefinition::BusinessRow& row : def.businesses) {
    const BudgetHolder holder = *defined.insert(Business(row.name)).first;
    const std::string& unit = row.unit.empty() ? def.currency : row.unit;
    const HolderState* known = accounts.Find(holder);
    if (known != nullptr && known->unit == unit && known->per_period == row.per_period &&
        known->carry == row.carry && !known->removed) {
      continue;
    }
    BudgetEntry& e = out.emplace_back(EntryOf(BudgetAct::kBusiness));
    e.of = holder;
    e.unit = unit;
    e.amount = row.per_period;
    e.carry = row.carry;
  }
  for (const BudgetDefinition::GroupRow& row : def.groups) defined.insert(GroupHolder(row.name));
  if (absl::Status s = AddFunding(def, accounts, from_s, now_s, out); !s.ok()) return s;
  // Groups are removed first, because a business that still pays for a group cannot be removed.
  for (const bool business : {false, true}) {
    for (const auto& [holder, state] : accounts.holders()) {
      if (holder.is_business() != business || state.removed || defined.contains(holder)) continue;
      out.emplace_back(EntryOf(BudgetAct::kRemove)).of = holder;
    }
  }
  return out;
}

}  // namespace taut::brain
