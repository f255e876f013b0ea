#include "brain/economy/budget_accounts.h"

#include <algorithm>
#include <set>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

// Bound on the duration of an override. More money for a longer time requires a grant.
constexpr int64_t kLongestOverride = 10 * 366 * kDaySeconds;

absl::Status Invalid(std::string_view text) { return absl::InvalidArgumentError(std::string(text)); }
absl::Status Refused(std::string_view text) { return absl::FailedPreconditionError(std::string(text)); }

std::string Called(const BudgetHolder& holder) { return Printable(ToText(holder)); }

absl::Status CheckAmount(Money amount, std::string_view what, bool zero_too) {
  if (amount.micros >= (zero_too ? 0 : 1) && amount <= kMostBudgetAmount) return absl::OkStatus();
  return Invalid(StrCat("invalid ", what, " ", ToText(amount), ": expected ", zero_too ? "0" : "more than 0",
                        " to ", ToText(kMostBudgetAmount)));
}

// Sets a value from a day on. A past day is allowed only while the timeline `line` has no value in force.
// Afterwards, past values must not change, because spending was already attributed by these values.
template <typename T>
absl::Status SetFrom(Timeline<T>& line, int64_t from_s, T value, int64_t now_s, std::string_view what) {
  if (from_s % kDaySeconds != 0)
    return Invalid(StrCat(what, ": expected a day's begin, 00:00 of UTC, not ", from_s, " s"));
  const bool begun = !line.empty() && line.front().first <= now_s;
  if (begun && from_s <= now_s) {
    return Refused(StrCat(what, " from ", DateText(from_s),
                          ": what was spent is accounted by what is in force; expected a day after ",
                          DateText(now_s)));
  }
  std::erase_if(line, [from_s](const auto& step) { return step.first >= from_s; });
  line.emplace_back(from_s, std::move(value));
  return absl::OkStatus();
}

}  // namespace

Money HolderState::budget(int64_t now_s) const {
  Money out = balance();
  for (const BudgetOverride& o : overrides) {
    if (now_s < o.until_s && __builtin_add_overflow(out.micros, o.amount.micros, &out.micros))
      return {INT64_MAX};
  }
  return out;
}

absl::StatusOr<BudgetAccounts> BudgetAccounts::Replay(std::vector<BudgetEntry> entries) {
  std::ranges::sort(entries, {}, [](const BudgetEntry& e) { return std::pair(e.time_s, e.id); });
  BudgetAccounts accounts;
  for (const BudgetEntry& e : entries) {
    if (const absl::Status s = accounts.Apply(e); !s.ok())
      return absl::Status(s.code(), StrCat("entry ", e.id, ": ", Message(s)));
  }
  return accounts;
}

absl::Status BudgetAccounts::Apply(const BudgetEntry& e) {
  if (e.id != last_id_ + 1)
    return Refused(StrCat("entry ", e.id, " after entry ", last_id_, ": expected ", last_id_ + 1));
  if (e.time_s < last_time_s_)
    return Refused(StrCat("entry ", e.id, " is earlier than entry ", last_id_, ": times do not go back"));
  if (!period_.is_open() && e.act != BudgetAct::kPeriod)
    return Refused("no period is open: the first entry opens one");
  using Step = absl::Status (BudgetAccounts::*)(const BudgetEntry&);
  static constexpr Step kSteps[] = {
      &BudgetAccounts::Period,         &BudgetAccounts::Prices,   &BudgetAccounts::Rate,
      &BudgetAccounts::DefineBusiness, &BudgetAccounts::Fund,     &BudgetAccounts::Remove,
      &BudgetAccounts::Grant,          &BudgetAccounts::Transfer, &BudgetAccounts::SplitUp,
      &BudgetAccounts::Expire,         &BudgetAccounts::Freeze,   &BudgetAccounts::Freeze,
      &BudgetAccounts::Override,       &BudgetAccounts::Close};  // functions by BudgetAct
  const auto act = static_cast<size_t>(e.act);
  if (act >= std::size(kSteps)) return Invalid("unknown kind of entry");
  if (absl::Status s = (this->*kSteps[act])(e); !s.ok()) return s;
  last_id_ = e.id;
  last_time_s_ = e.time_s;
  return absl::OkStatus();
}

absl::Status BudgetAccounts::Period(const BudgetEntry& e) {
  if (e.from_s < 0 || e.until_s <= e.from_s || e.from_s % kDaySeconds != 0 || e.until_s % kDaySeconds != 0)
    return Invalid("a period is from a day's begin to a later one");
  if (e.unit.empty()) return Invalid("a period needs a currency");
  if (period_.is_open() && e.from_s != period_.to_s)
    return Refused(StrCat("the open period ends on ", DateText(period_.to_s), ", the next cannot begin on ",
                          DateText(e.from_s)));
  if (period_.is_open() && e.unit != currency_) {
    return Refused(StrCat("the ledger is in ", Printable(currency_), ", not in ", Printable(e.unit),
                          ": expected the same currency, or another ledger"));
  }
  currency_ = e.unit;
  totals_.try_emplace(currency_);
  period_.from_s = e.from_s;
  period_.to_s = e.until_s;
  return absl::OkStatus();
}

absl::Status BudgetAccounts::Prices(const BudgetEntry& e) {
  if (e.price.has_negative()) return Invalid("a price is negative");
  return SetFrom(prices_, e.from_s, e.price, e.time_s, "a price");
}

absl::Status BudgetAccounts::Rate(const BudgetEntry& e) {
  if (e.unit.empty() || e.unit == currency_)
    return Invalid(
        StrCat("unit \"", Printable(e.unit), "\": expected another name than that of the currency"));
  if (absl::Status s = CheckAmount(e.rate, StrCat("rate of ", Printable(e.unit)), false); !s.ok()) return s;
  Timeline<Money> line;
  if (const auto found = rates_.find(e.unit); found != rates_.end()) line = found->second;
  const std::string what = StrCat("a rate of ", Printable(e.unit));
  if (absl::Status s = SetFrom(line, e.from_s, e.rate, e.time_s, what); !s.ok()) return s;
  rates_[e.unit] = std::move(line);
  return absl::OkStatus();
}

absl::Status BudgetAccounts::DefineBusiness(const BudgetEntry& e) {
  const std::string name = Called(e.of);
  if (!e.of.is_business() || e.of.name.empty()) return Invalid(StrCat(name, " is not a business"));
  if (absl::Status s = CheckAmount(e.amount, StrCat("budget of ", name), true); !s.ok()) return s;
  if (e.carry.share_bp < 0 || e.carry.share_bp > kWholeBasisPoints ||
      e.carry.cap.value_or(Money{0}).micros < 0)
    return Invalid(StrCat(name, ": what is carried over is a share from 0 to 100 % and a cap of 0 or more"));
  if (e.unit != currency_ && !rates_.contains(e.unit)) {
    return Refused(StrCat(name, " is in ", Printable(e.unit), ", which has no rate: spending is counted in ",
                          Printable(currency_)));
  }
  const HolderState* known = Find(e.of);
  HolderState next = known != nullptr ? *known : HolderState();
  std::map<std::string, BudgetTotals> totals = totals_;
  if (known == nullptr) {
    next.unit = e.unit;
    next.opened = e.amount;
    if (absl::Status s = AddTo(totals[e.unit].granted, e.amount); !s.ok()) return s;
  } else if (next.unit != e.unit) {
    return Refused(StrCat(name, " holds ", ToText(next.balance()), " ", Printable(next.unit),
                          ": its unit cannot become ", Printable(e.unit),
                          "; expected another business, to which the money is transferred"));
  }
  next.per_period = e.amount;
  next.carry = e.carry;
  next.removed = false;
  holders_[e.of] = std::move(next);
  totals_ = std::move(totals);
  return absl::OkStatus();
}

// Checks that the parts have distinct, known holders, and shares above 0 that sum up to 100 %.
absl::Status BudgetAccounts::CheckParts(const BudgetEntry& e, std::string_view what) const {
  std::set<BudgetHolder> seen;
  int64_t sum = 0;
  for (const BudgetPart& part : e.parts) {
    const std::string name = Called(part.holder);
    const HolderState* state = Find(part.holder);
    if (state == nullptr) return absl::NotFoundError(StrCat(what, ": no ", name));
    if (state->removed) return Refused(StrCat(what, ": ", name, " was removed"));
    if (!seen.insert(part.holder).second) return Invalid(StrCat(what, ": ", name, " is there twice"));
    if (part.share_bp <= 0 || part.share_bp > kWholeBasisPoints)
      return Invalid(
          StrCat(what, ": the share of ", name, " is ", part.share_bp, " of 10,000: expected 1 to 10,000"));
    sum += part.share_bp;
  }
  if (sum == kWholeBasisPoints) return absl::OkStatus();
  return Invalid(
      fmt::format("{}: the shares add up to {:g} %: expected 100 %", what, static_cast<double>(sum) / 100));
}

absl::Status BudgetAccounts::Fund(const BudgetEntry& e) {
  const std::string what = StrCat("funding of ", Called(e.of));
  if (e.of.is_business() || e.of.name.empty()) return Invalid(StrCat(what, ": expected a group"));
  for (const BudgetPart& part : e.parts) {
    if (!part.holder.is_business())
      return Invalid(StrCat(what, ": ", Called(part.holder), " is not a business"));
  }
  if (!e.parts.empty()) {
    if (absl::Status s = CheckParts(e, what); !s.ok()) return s;
  }
  Timeline<std::vector<BudgetPart>> line;
  if (const auto found = funding_.find(e.of.name); found != funding_.end()) line = found->second;
  if (absl::Status s = SetFrom(line, e.from_s, e.parts, e.time_s, what); !s.ok()) return s;
  funding_[e.of.name] = std::move(line);
  HolderState& state = holders_[e.of];
  state.unit = currency_;
  state.removed = false;
  return absl::OkStatus();
}

absl::Status BudgetAccounts::Remove(const BudgetEntry& e) {
  const HolderState* known = Find(e.of);
  if (known == nullptr) return absl::NotFoundError(StrCat("no ", Called(e.of)));
  if (e.of.is_business()) {
    for (const auto& [group, line] : funding_) {
      for (size_t i = 0; i < line.size(); ++i) {
        // Shares that end by tomorrow pay for no future spending, because changes apply from the next day on.
        const bool over = i + 1 < line.size() && line[i + 1].first <= NextDay(e.time_s);
        const auto is_it = [&](const BudgetPart& part) { return part.holder == e.of; };
        if (!over && std::ranges::any_of(line[i].second, is_it))
          return Refused(StrCat(Called(e.of), " pays for group:", Printable(group),
                                " after today: expected other shares first"));
      }
    }
  } else {
    Timeline<std::vector<BudgetPart>> line = funding_[e.of.name];
    if (absl::Status s = SetFrom(line, NextDay(e.time_s), {}, e.time_s, "funding"); !s.ok()) return s;
    funding_[e.of.name] = std::move(line);
  }
  HolderState& state = holders_[e.of];
  state.per_period = {};
  state.removed = true;
  return absl::OkStatus();
}

absl::StatusOr<HolderState> BudgetAccounts::Movable(const BudgetHolder& holder) const {
  const HolderState* state = Find(holder);
  if (state == nullptr) return absl::NotFoundError(StrCat("no ", Called(holder)));
  if (state->frozen_by == 0) return *state;
  return Refused(StrCat(Called(holder), " is frozen by entry ", state->frozen_by, " (",
                        Printable(state->frozen_why), "): its money does not move"));
}

absl::StatusOr<HolderState> BudgetAccounts::Giving(const BudgetHolder& holder, Money amount) const {
  absl::StatusOr<HolderState> state = Movable(holder);
  if (!state.ok()) return state;
  if (absl::Status s = CheckAmount(amount, "amount", false); !s.ok()) return s;
  if (amount > state->balance()) {
    return Refused(StrCat(Called(holder), " has ", ToText(state->balance()), " ", Printable(state->unit),
                          ", less than ", ToText(amount)));
  }
  return state;
}

absl::Status BudgetAccounts::Receive(HolderState& state, const BudgetHolder& holder, Money amount) const {
  if (state.removed) return Refused(StrCat(Called(holder), " was removed: it receives nothing"));
  if (amount.micros < 0) return Invalid(StrCat(Called(holder), " would receive a negative amount"));
  // A bound on the balance also bounds the sum of its fields.
  const absl::StatusOr<Money> sum = Add(state.balance(), amount);
  if (!sum.ok() || *sum > kMostBudgetAmount)
    return absl::OutOfRangeError(StrCat(Called(holder), " would have more than ", ToText(kMostBudgetAmount)));
  return absl::OkStatus();
}

absl::Status BudgetAccounts::Grant(const BudgetEntry& e) {
  absl::StatusOr<HolderState> state = Movable(e.of);
  if (!state.ok()) return state.status();
  if (absl::Status s = CheckAmount(e.amount, "amount", false); !s.ok()) return s;
  if (absl::Status s = Receive(*state, e.of, e.amount); !s.ok()) return s;
  if (absl::Status s = AddTo(state->granted, e.amount); !s.ok()) return s;
  if (absl::Status s = AddTo(totals_[state->unit].granted, e.amount); !s.ok()) return s;
  holders_[e.of] = *std::move(state);
  return absl::OkStatus();
}

absl::Status BudgetAccounts::CountConverted(const std::string& from, Money out, const std::string& to,
                                            Money in, std::map<std::string, BudgetTotals>& totals) {
  if (from == to) return absl::OkStatus();
  if (absl::Status s = AddTo(totals[from].converted_out, out); !s.ok()) return s;
  return AddTo(totals[to].converted_in, in);
}

absl::Status BudgetAccounts::Transfer(const BudgetEntry& e) {
  if (e.of == e.to) return Invalid(StrCat("a transfer from ", Called(e.of), " to itself"));
  absl::StatusOr<HolderState> from = Giving(e.of, e.amount), to = Movable(e.to);
  if (!from.ok()) return from.status();
  if (!to.ok()) return to.status();
  if (absl::Status s = Receive(*to, e.to, e.received); !s.ok()) return s;
  if (from->unit == to->unit && e.amount != e.received)
    return Invalid(
        StrCat("a transfer of ", ToText(e.amount), " that is ", ToText(e.received), " when it arrives"));
  // The changes are made on copies, because an overflow must leave the accounts unchanged.
  std::map<std::string, BudgetTotals> totals = totals_;
  if (absl::Status s = CountConverted(from->unit, e.amount, to->unit, e.received, totals); !s.ok()) return s;
  if (absl::Status s = AddTo(from->given, e.amount); !s.ok()) return s;
  if (absl::Status s = AddTo(to->received, e.received); !s.ok()) return s;
  totals_ = std::move(totals);
  holders_[e.of] = *std::move(from);
  holders_[e.to] = *std::move(to);
  return absl::OkStatus();
}

absl::Status BudgetAccounts::SplitUp(const BudgetEntry& e) {
  absl::StatusOr<HolderState> from = Giving(e.of, e.amount);
  if (!from.ok()) return from.status();
  if (absl::Status s = CheckParts(e, StrCat("split of ", Called(e.of))); !s.ok()) return s;
  std::vector<uint64_t> weights;
  for (const BudgetPart& part : e.parts) weights.push_back(static_cast<uint64_t>(part.share_bp));
  const std::vector<Money> shares = Split(e.amount, weights);
  // The changes are made on copies until every part is checked, because an error in a later part must undo the
  // earlier parts.
  std::map<std::string, BudgetTotals> totals = totals_;
  std::vector<HolderState> states;
  for (size_t i = 0; i < e.parts.size(); ++i) {
    const BudgetPart& part = e.parts[i];
    if (part.holder == e.of) return Invalid(StrCat("a split of ", Called(e.of), " to itself"));
    absl::StatusOr<HolderState> to = Movable(part.holder);
    if (!to.ok()) return to.status();
    if (to->unit == from->unit && part.amount != shares[i])
      return Invalid(StrCat("the part of ", Called(part.holder), " is ", ToText(part.amount), ", not ",
                            ToText(shares[i])));
    if (absl::Status s = Receive(*to, part.holder, part.amount); !s.ok()) return s;
    if (absl::Status s = AddTo(to->received, part.amount); !s.ok()) return s;
    if (absl::Status s = CountConverted(from->unit, shares[i], to->unit, part.amount, totals); !s.ok())
      return s;
    states.push_back(*std::move(to));
  }
  if (absl::Status s = AddTo(from->given, e.amount); !s.ok()) return s;
  totals_ = std::move(totals);
  holders_[e.of] = *std::move(from);
  for (size_t i = 0; i < states.size(); ++i) holders_[e.parts[i].holder] = std::move(states[i]);
  return absl::OkStatus();
}

absl::Status BudgetAccounts::Expire(const BudgetEntry& e) {
  absl::StatusOr<HolderState> state = Giving(e.of, e.amount);
  if (!state.ok()) return state.status();
  if (absl::Status s = AddTo(state->expired, e.amount); !s.ok()) return s;
  if (absl::Status s = AddTo(totals_[state->unit].expired, e.amount); !s.ok()) return s;
  holders_[e.of] = *std::move(state);
  return absl::OkStatus();
}

absl::Status BudgetAccounts::Freeze(const BudgetEntry& e) {
  const HolderState* known = Find(e.of);
  if (known == nullptr) return absl::NotFoundError(StrCat("no ", Called(e.of)));
  const bool freezes = e.act == BudgetAct::kFreeze;
  if (freezes && known->frozen_by != 0)
    return Refused(StrCat(Called(e.of), " is frozen already, by entry ", known->frozen_by));
  if (!freezes && known->frozen_by == 0) return Refused(StrCat(Called(e.of), " is not frozen"));
  HolderState& state = holders_[e.of];
  state.frozen_by = freezes ? e.id : 0;
  state.frozen_why = freezes ? e.why : "";
  return absl::OkStatus();
}

absl::Status BudgetAccounts::Override(const BudgetEntry& e) {
  const absl::StatusOr<HolderState> state = Movable(e.of);
  if (!state.ok()) return state.status();
  if (absl::Status s = CheckAmount(e.amount, "amount", false); !s.ok()) return s;
  if (e.until_s <= e.time_s || e.until_s - e.time_s > kLongestOverride)
    return Invalid(StrCat("an override of ", Called(e.of), " until ", FormatTime(e.until_s),
                          ": expected a time after now, within ten years"));
  constexpr size_t kMostOverrides = 100;
  if (state->overrides.size() >= kMostOverrides)
    return Refused(StrCat(Called(e.of), " has ", kMostOverrides, " overrides already"));
  holders_[e.of].overrides.push_back({e.amount, e.until_s, e.id});
  return absl::OkStatus();
}

absl::Status BudgetAccounts::Close(const BudgetEntry& e) {
  const HolderState* known = Find(e.of);
  if (known == nullptr) return absl::NotFoundError(StrCat("no ", Called(e.of)));
  const Money balance = known->balance();
  if (e.spent.micros < 0 || e.carried.micros < 0 || e.expired.micros < 0 || e.amount.micros < 0)
    return Invalid(StrCat("the end of a period of ", Called(e.of), " has a negative amount"));
  // Spending beyond the balance is not paid. This spending counts as overspent and does not become a debt of
  // the next period.
  const Money paid = std::min(balance, e.spent);
  if (e.carried > balance || e.expired.micros != balance.micros - paid.micros - e.carried.micros)
    return Invalid(StrCat(Called(e.of), ": carried over and expired are not what was left"));
  HolderState next = *known;
  next.opened = e.carried;
  next.granted = next.received = next.given = next.expired = Money();
  if (absl::Status s = AddTo(next.opened, e.amount); !s.ok()) return s;
  BudgetTotals totals = totals_[next.unit];
  for (const auto& [to, more] : {std::pair{&totals.granted, e.amount},
                                 {&totals.expired, e.expired},
                                 {&totals.paid, paid},
                                 {&totals.overspent, Money{e.spent.micros - paid.micros}}}) {
    if (absl::Status s = AddTo(*to, more); !s.ok()) return s;
  }
  totals_[next.unit] = totals;
  std::erase_if(next.overrides, [this](const BudgetOverride& o) { return o.until_s <= period_.to_s; });
  // A removed holder stays until the period ends, because spending is still attributed to it.
  if (next.removed) {
    holders_.erase(e.of);
    if (!e.of.is_business()) funding_.erase(e.of.name);
  } else {
    holders_[e.of] = std::move(next);
  }
  return absl::OkStatus();
}

}  // namespace taut::brain
