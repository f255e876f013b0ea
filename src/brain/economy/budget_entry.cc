#include "brain/economy/budget_entry.h"

#include <array>
#include <chrono>
#include <utility>

#include "common/base/printable.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr std::string_view kBusinessPrefix = "business:", kGroupPrefix = "group:";
constexpr std::array<std::string_view, 3> kPeriodNames = {"month", "quarter", "year"};
constexpr std::array<std::string_view, 14> kActNames = {
    "period",   "prices", "rate",   "business", "funding",  "remove",   "grant",
    "transfer", "split",  "expire", "freeze",   "unfreeze", "override", "close"};

template <typename Names>
std::optional<size_t> IndexOf(const Names& names, std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return i;
  }
  return std::nullopt;
}

std::chrono::year_month MonthOf(int64_t time_s) {
  const std::chrono::year_month_day day{
      std::chrono::sys_days{std::chrono::days{FloorDiv(time_s, kDaySeconds)}}};
  return {day.year(), day.month()};
}

int64_t SecondsOf(std::chrono::year_month month) {
  const std::chrono::sys_days day{month / std::chrono::day{1}};
  return int64_t{day.time_since_epoch().count()} * kDaySeconds;
}

std::string PercentText(int64_t share_bp) {
  return fmt::format("{:g} %", static_cast<double>(share_bp) / 100);
}

std::string PartsText(const std::vector<BudgetPart>& parts) {
  std::string out;
  for (const BudgetPart& part : parts)
    StrAppend(&out, out.empty() ? "" : ", ", Printable(ToText(part.holder)), " ", PercentText(part.share_bp));
  return out;
}

std::string CarryText(const CarryOver& carry) {
  if (carry.share_bp == 0) return "nothing is carried over";
  std::string out = carry.share_bp == kWholeBasisPoints
                        ? "all that is left is carried over"
                        : StrCat(PercentText(carry.share_bp), " of what is left is carried over");
  if (carry.cap.has_value()) StrAppend(&out, ", at most ", ToText(*carry.cap));
  return out;
}

}  // namespace

BudgetHolder Business(std::string_view name) { return {BudgetHolder::Kind::kBusiness, std::string(name)}; }
BudgetHolder GroupHolder(std::string_view name) { return {BudgetHolder::Kind::kGroup, std::string(name)}; }

std::string ToText(const BudgetHolder& holder) {
  return StrCat(holder.is_business() ? kBusinessPrefix : kGroupPrefix, holder.name);
}

std::optional<BudgetHolder> HolderOf(std::string_view text) {
  for (const auto& [prefix, make] : {std::pair{kBusinessPrefix, &Business}, {kGroupPrefix, &GroupHolder}}) {
    if (text.starts_with(prefix) && text.size() > prefix.size()) return make(text.substr(prefix.size()));
  }
  return std::nullopt;
}

std::optional<int64_t> ParseShare(std::string_view text) {
  constexpr int64_t kMicrosPerBasisPoint = 10'000;
  if (!text.ends_with('%')) return std::nullopt;
  text.remove_suffix(1);
  const absl::StatusOr<Money> number = ParseMoney(StripSpace(text));
  if (!number.ok() || number->micros < 0 || number->micros > kWholeBasisPoints * kMicrosPerBasisPoint ||
      number->micros % kMicrosPerBasisPoint != 0)
    return std::nullopt;
  return number->micros / kMicrosPerBasisPoint;
}

std::string_view Name(BudgetPeriod period) { return kPeriodNames[static_cast<size_t>(period)]; }

std::optional<BudgetPeriod> BudgetPeriodNamed(std::string_view name) {
  const std::optional<size_t> i = IndexOf(kPeriodNames, name);
  return i.has_value() ? std::optional(static_cast<BudgetPeriod>(*i)) : std::nullopt;
}

int64_t PeriodBegin(BudgetPeriod period, int64_t time_s) {
  const std::chrono::year_month month = MonthOf(time_s);
  const unsigned at = static_cast<unsigned>(month.month()) - 1;
  const unsigned first = period == BudgetPeriod::kMonth     ? at
                         : period == BudgetPeriod::kQuarter ? at / 3 * 3
                                                            : 0;
  return SecondsOf({month.year(), std::chrono::month{first + 1}});
}

int64_t PeriodEnd(BudgetPeriod period, int64_t time_s) {
  const int months = period == BudgetPeriod::kMonth ? 1 : period == BudgetPeriod::kQuarter ? 3 : 12;
  return SecondsOf(MonthOf(PeriodBegin(period, time_s)) + std::chrono::months{months});
}

std::string_view Name(BudgetAct act) { return kActNames[static_cast<size_t>(act)]; }

std::optional<BudgetAct> BudgetActNamed(std::string_view name) {
  const std::optional<size_t> i = IndexOf(kActNames, name);
  return i.has_value() ? std::optional(static_cast<BudgetAct>(*i)) : std::nullopt;
}

bool IsRequest(BudgetAct act) {
  switch (act) {
    case BudgetAct::kGrant:
    case BudgetAct::kTransfer:
    case BudgetAct::kSplit:
    case BudgetAct::kExpire:
    case BudgetAct::kFreeze:
    case BudgetAct::kUnfreeze:
    case BudgetAct::kOverride:
      return true;
    default:
      return false;
  }
}

std::string DateText(int64_t time_s) {
  const std::chrono::year_month_day day{
      std::chrono::sys_days{std::chrono::days{FloorDiv(time_s, kDaySeconds)}}};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

std::string Describe(const BudgetEntry& e, std::string_view unit) {
  const std::string of = Printable(ToText(e.of)), amount = StrCat(ToText(e.amount), " ", Printable(unit));
  switch (e.act) {
    case BudgetAct::kPeriod:
      return StrCat("the period from ", DateText(e.from_s), " to ", DateText(e.until_s), " begins, in ",
                    Printable(e.unit));
    case BudgetAct::kPrices:
      return StrCat("from ", DateText(e.from_s), " prices are ", RatesText(e.price));
    case BudgetAct::kRate:
      return StrCat("from ", DateText(e.from_s), " one ", Printable(e.unit), " is worth ", ToText(e.rate));
    case BudgetAct::kBusiness:
      return StrCat(of, " has ", amount, " a period; ", CarryText(e.carry));
    case BudgetAct::kFunding:
      return StrCat("from ", DateText(e.from_s), " ", of, " is paid for by ",
                    e.parts.empty() ? "no business" : PartsText(e.parts));
    case BudgetAct::kRemove:
      return StrCat(of, " is removed: what is left at the period's end expires");
    case BudgetAct::kGrant:
      return StrCat("grant of ", amount, " to ", of);
    case BudgetAct::kTransfer:
      return StrCat("transfer of ", amount, " from ", of, " to ", Printable(ToText(e.to)));
    case BudgetAct::kSplit:
      return StrCat("split of ", amount, " of ", of, ": ", PartsText(e.parts));
    case BudgetAct::kExpire:
      return StrCat(amount, " of ", of, " expire");
    case BudgetAct::kFreeze:
      return StrCat(of, " is frozen");
    case BudgetAct::kUnfreeze:
      return StrCat(of, " is no longer frozen");
    case BudgetAct::kOverride:
      return StrCat("the budget of ", of, " is ", amount, " higher until ", DateText(e.until_s));
    case BudgetAct::kClose:
      return StrCat("the period of ", of, " ends: ", ToText(e.spent), " spent, ", ToText(e.carried),
                    " carried over, ", ToText(e.expired), " expired; ", amount, " for the next");
  }
  return "";
}

}  // namespace taut::brain
