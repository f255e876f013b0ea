#include "brain/economy/budget_spending.h"

#include <algorithm>
#include <tuple>

#include "common/base/strings.h"

namespace taut::brain {
namespace {

// Payments by business and day. Payments are summed before the conversion, so that each sum is rounded only
// once.
using ByDay = std::map<std::pair<std::string, int64_t>, Money>;

absl::Status DivideDay(const BudgetAccounts& accounts, const GroupDay& day, Money rest, GroupSpending& of,
                       ByDay& businesses, Money& unfunded) {
  const std::vector<BudgetPart>* funders = accounts.FundersAt(day.group, day.day_s);
  if (funders == nullptr || funders->empty()) {
    if (absl::Status s = AddTo(of.unfunded, rest); !s.ok()) return s;
    return AddTo(unfunded, rest);
  }
  std::vector<uint64_t> weights;
  for (const BudgetPart& part : *funders) weights.push_back(static_cast<uint64_t>(part.share_bp));
  const std::vector<Money> parts = Split(rest, weights);
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string& name = (*funders)[i].holder.name;
    if (absl::Status s = AddTo(of.payers[name], parts[i]); !s.ok()) return s;
    if (absl::Status s = AddTo(businesses[{name, day.day_s}], parts[i]); !s.ok()) return s;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BudgetSpending> Attribute(const BudgetAccounts& accounts, std::vector<GroupDay> days) {
  std::ranges::sort(days, {}, [](const GroupDay& d) { return std::tie(d.group, d.day_s); });
  BudgetSpending out;
  ByDay businesses;
  for (size_t i = 0; i < days.size();) {
    GroupDay day = days[i];
    if (day.amount.micros < 0)
      return absl::InvalidArgumentError(StrCat("group ", day.group, " spent less than 0"));
    // Entries of one group and day are merged, because the spending of a day is divided as a whole.
    for (++i; i < days.size() && days[i].group == day.group && days[i].day_s == day.day_s; ++i) {
      if (absl::Status s = AddTo(day.amount, days[i].amount); !s.ok()) return s;
      if (absl::Status s = AddTo(day.again, days[i].again); !s.ok()) return s;
    }
    GroupSpending& of = out.groups[day.group];
    if (absl::Status s = AddTo(of.spent, day.amount); !s.ok()) return s;
    if (absl::Status s = AddTo(out.total, {day.amount.micros - day.again.micros}); !s.ok()) return s;
    const HolderState* holder = accounts.Find(GroupHolder(day.group));
    const int64_t left = holder == nullptr ? 0 : holder->balance().micros - of.own.micros;
    const Money own = {std::min(std::max<int64_t>(0, left), day.amount.micros)};
    of.own.micros += own.micros;
    const Money rest = {day.amount.micros - own.micros};
    if (absl::Status s = DivideDay(accounts, day, rest, of, businesses, out.unfunded); !s.ok()) return s;
  }
  for (const auto& [key, amount] : businesses) {
    const BudgetHolder holder = Business(key.first);
    const absl::StatusOr<Money> in_unit =
        accounts.Convert(amount, accounts.currency(), accounts.UnitOf(holder), key.second);
    if (!in_unit.ok()) return in_unit.status();
    if (absl::Status s = AddTo(out.spent[holder], *in_unit); !s.ok()) return s;
    if (absl::Status s = AddTo(out.in_currency[holder], amount); !s.ok()) return s;
  }
  for (const auto& [group, of] : out.groups) {
    if (accounts.Find(GroupHolder(group)) == nullptr) continue;
    out.spent[GroupHolder(group)] = of.own;
    out.in_currency[GroupHolder(group)] = of.own;
  }
  return out;
}

absl::StatusOr<std::vector<GroupDay>> RestOfPeriod(const BudgetAccounts& accounts,
                                                   std::span<const GroupDay> recent, int64_t recent_s,
                                                   int64_t now_s) {
  std::map<std::string, GroupDay> rates;
  for (const GroupDay& day : recent) {
    GroupDay& rate = rates[day.group];
    if (absl::Status s = AddTo(rate.amount, day.amount); !s.ok()) return s;
    if (absl::Status s = AddTo(rate.again, day.again); !s.ok()) return s;
  }
  std::vector<GroupDay> out;
  for (const auto& [group, spent] : rates) {
    for (int64_t from = std::max(now_s, accounts.period().from_s); from < accounts.period().to_s;
         from = NextDay(from)) {
      const auto seconds = static_cast<uint64_t>(std::min(NextDay(from), accounts.period().to_s) - from);
      const absl::StatusOr<Money> amount = PriceTimes(spent.amount, seconds, static_cast<uint64_t>(recent_s));
      if (!amount.ok()) return amount.status();
      const absl::StatusOr<Money> again = PriceTimes(spent.again, seconds, static_cast<uint64_t>(recent_s));
      if (!again.ok()) return again.status();
      out.push_back({group, FloorDiv(from, kDaySeconds) * kDaySeconds, *amount, *again});
    }
  }
  return out;
}

}  // namespace taut::brain
