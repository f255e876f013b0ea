// Converts people's requests, and ends of periods, into entries that BudgetAccounts accepts.
#include <algorithm>
#include <utility>

#include "brain/economy/budget_accounts.h"
#include "common/base/printable.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr int64_t kMicros = 1'000'000;  // number of micro-units in one unit

bool TakesFrom(BudgetAct act) {
  return act == BudgetAct::kTransfer || act == BudgetAct::kSplit || act == BudgetAct::kExpire;
}

// Returns share_bp of an amount >= 0, rounded down.
Money PartOf(Money amount, int64_t share_bp) {
  return ShareOf(amount, share_bp * (kWholePpm / kWholeBasisPoints));
}

// Converts an amount >= 0 from a unit of value `worths.first` to a unit of value `worths.second`, rounded to the
// nearest micro-unit.
absl::StatusOr<Money> ToNearest(Money amount, const std::pair<Money, Money>& worths) {
  return PriceTimes(worths.first, static_cast<uint64_t>(amount.micros),
                    static_cast<uint64_t>(worths.second.micros));
}

}  // namespace

Money SpentOf(const SpentByHolder& spent, const BudgetHolder& holder) {
  const auto found = spent.find(holder);
  return found == spent.end() ? Money() : found->second;
}

const HolderState* BudgetAccounts::Find(const BudgetHolder& holder) const {
  const auto found = holders_.find(holder);
  return found == holders_.end() ? nullptr : &found->second;
}

std::string BudgetAccounts::UnitOf(const BudgetHolder& holder) const {
  const HolderState* state = Find(holder);
  return state == nullptr ? currency_ : state->unit;
}

absl::StatusOr<BudgetHolder> BudgetAccounts::Resolve(std::string_view text) const {
  if (const std::optional<BudgetHolder> whole = HolderOf(text); whole.has_value() && Find(*whole) != nullptr)
    return *whole;
  const BudgetHolder business = Business(text), group = GroupHolder(text);
  const bool is_business = Find(business) != nullptr, is_group = Find(group) != nullptr;
  if (is_business && is_group) {
    return absl::FailedPreconditionError(
        StrCat("\"", ShortText(text), "\" is a business and a group: expected ", Printable(ToText(business)),
               " or ", Printable(ToText(group))));
  }
  if (is_business) return business;
  if (is_group) return group;
  return absl::NotFoundError(StrCat("no business or group \"", ShortText(text), "\""));
}

const std::vector<BudgetPart>* BudgetAccounts::FundersAt(const std::string& group, int64_t time_s) const {
  const auto found = funding_.find(group);
  return found == funding_.end() ? nullptr : ValueAt(found->second, time_s);
}

absl::StatusOr<std::pair<Money, Money>> BudgetAccounts::Worths(const std::string& from, const std::string& to,
                                                               int64_t time_s) const {
  Money worth[2] = {{kMicros}, {kMicros}};
  const std::string* const units[2] = {&from, &to};
  for (size_t i = 0; i < 2; ++i) {
    if (*units[i] == currency_) continue;
    const auto line = rates_.find(*units[i]);
    if (line == rates_.end() || line->second.empty())
      return absl::FailedPreconditionError(
          StrCat(Printable(*units[i]), " has no rate in ", Printable(currency_)));
    const Money* rate = ValueAt(line->second, time_s);
    worth[i] = rate != nullptr ? *rate : line->second.front().second;
  }
  return std::pair(worth[0], worth[1]);
}

absl::StatusOr<Money> BudgetAccounts::Convert(Money amount, const std::string& from, const std::string& to,
                                              int64_t time_s) const {
  if (from == to) return amount;
  const absl::StatusOr<std::pair<Money, Money>> worths = Worths(from, to, time_s);
  if (!worths.ok()) return worths.status();
  return ToNearest(amount, *worths);
}

// Converts an amount into the receiver's unit, rounded down, so that moving money there and back cannot create
// money. Returns InvalidArgument if nothing would arrive.
absl::StatusOr<Money> BudgetAccounts::Received(Money amount, const std::string& from,
                                               const BudgetHolder& holder, int64_t time_s) const {
  const std::string to = UnitOf(holder);
  if (from == to) return amount;
  const absl::StatusOr<std::pair<Money, Money>> worths = Worths(from, to, time_s);
  if (!worths.ok()) return worths.status();
  absl::StatusOr<Money> received = ToNearest(amount, *worths);
  if (!received.ok()) return received.status();
  const auto value = [](Money times, Money rate) {
    return static_cast<Wide>(times.micros) * static_cast<uint64_t>(rate.micros);  // both factors are >= 0
  };
  // Undoes a rounding up, because the received value must not exceed the sent value.
  if (value(*received, worths->second) > value(amount, worths->first)) --received->micros;
  if (amount.micros > 0 && received->micros == 0) {
    return absl::InvalidArgumentError(
        StrCat(ToText(amount), " ", Printable(from), " are less than ", ToText(Money{1}), " ", Printable(to),
               ", the least that ", Printable(ToText(holder)), " can have: expected a larger amount"));
  }
  return received;
}

absl::Status BudgetAccounts::FillReceived(BudgetEntry& e) const {
  const std::string unit = UnitOf(e.of);
  if (e.act == BudgetAct::kTransfer) {
    const absl::StatusOr<Money> received = Received(e.amount, unit, e.to, e.time_s);
    if (!received.ok()) return received.status();
    e.received = *received;
  }
  if (e.act != BudgetAct::kSplit || e.parts.empty()) return absl::OkStatus();
  std::vector<uint64_t> weights;
  for (const BudgetPart& part : e.parts)
    weights.push_back(static_cast<uint64_t>(std::max<int64_t>(0, part.share_bp)));
  const std::vector<Money> shares = Split(e.amount, weights);
  for (size_t i = 0; i < e.parts.size(); ++i) {
    const absl::StatusOr<Money> received = Received(shares[i], unit, e.parts[i].holder, e.time_s);
    if (!received.ok()) return received.status();
    e.parts[i].amount = *received;
  }
  return absl::OkStatus();
}

absl::StatusOr<BudgetEntry> BudgetAccounts::Make(BudgetEntry asked, bool all, const SpentByHolder& spent,
                                                 int64_t now_s) const {
  if (!IsRequest(asked.act))
    return absl::InvalidArgumentError(
        StrCat("\"", Name(asked.act), "\" is not asked for: it follows from the definition"));
  if (StripSpace(asked.why).empty())
    return absl::InvalidArgumentError("why is missing: expected the reason, which the ledger keeps");
  asked.id = last_id_ + 1;
  asked.time_s = std::max(now_s, last_time_s_);
  const HolderState* state = Find(asked.of);
  if (state == nullptr) return absl::NotFoundError(StrCat("no ", ShortText(ToText(asked.of))));
  asked.unit = state->unit;
  const Money used = SpentOf(spent, asked.of);
  const Money left = {std::max<int64_t>(0, state->balance().micros - used.micros)};
  if (all) asked.amount = left;
  if (asked.amount.micros >= 0) {
    if (absl::Status s = FillReceived(asked); !s.ok()) return s;
  }
  // Apply on a copy detects every remaining error, so that Apply always accepts a returned entry.
  BudgetAccounts after = *this;
  if (absl::Status s = after.Apply(asked); !s.ok()) {
    if (all && left.micros == 0 && absl::IsInvalidArgument(s))
      return absl::FailedPreconditionError(StrCat(Printable(ToText(asked.of)), " has nothing left to move"));
    return s;
  }
  if (TakesFrom(asked.act) && asked.amount > left) {
    return absl::FailedPreconditionError(StrCat(
        Printable(ToText(asked.of)), " has ", ToText(state->balance()), " ", Printable(state->unit),
        " and has spent ", ToText(used), " of it: ", ToText(left), " can move, not ", ToText(asked.amount)));
  }
  return asked;
}

absl::StatusOr<std::vector<BudgetEntry>> BudgetAccounts::ClosePeriod(BudgetPeriod next,
                                                                     const SpentByHolder& spent,
                                                                     int64_t now_s) const {
  std::vector<BudgetEntry> out;
  const auto add = [&](BudgetAct act) -> BudgetEntry& {
    BudgetEntry& e = out.emplace_back();
    e.id = last_id_ + out.size();
    e.time_s = std::max(now_s, last_time_s_);
    e.who = "tautd";
    e.act = act;
    e.why = StrCat("the period from ", DateText(period_.from_s), " ended on ", DateText(period_.to_s));
    return e;
  };
  for (const auto& [holder, state] : holders_) {
    BudgetEntry& e = add(BudgetAct::kClose);
    e.of = holder;
    e.unit = state.unit;
    e.spent = SpentOf(spent, holder);
    const Money balance = state.balance();
    const Money left = {balance.micros - std::min(balance.micros, e.spent.micros)};
    if (!state.removed) {
      e.carried = PartOf(left, state.carry.share_bp);
      if (state.carry.cap.has_value()) e.carried = std::min(e.carried, *state.carry.cap);
      if (state.frozen_by != 0) e.carried = left;  // frozen money is carried over completely
      e.amount = state.per_period;
    }
    e.expired = {left.micros - e.carried.micros};
  }
  BudgetEntry& begin = add(BudgetAct::kPeriod);
  begin.unit = currency_;
  begin.from_s = period_.to_s;
  begin.until_s = PeriodEnd(next, period_.to_s);
  // Applies the entries in sequence to a copy. Apply checks the ids, and that the entries close exactly the open
  // holders.
  BudgetAccounts after = *this;
  for (const BudgetEntry& e : out) {
    if (absl::Status s = after.Apply(e); !s.ok()) return s;
  }
  return out;
}

}  // namespace taut::brain
