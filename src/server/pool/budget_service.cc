#include "server/pool/budget_service.h"

#include <algorithm>

#include "common/base/strings.h"
#include "server/pool/budget_text.h"

namespace taut::server {
namespace {

constexpr int64_t kRateDays = 7;
// A finished period is closed after this time, even if no later window has closed.
constexpr int64_t kCloseAnyway = 3600;
// An earlier time means that the clock is unknown: with `clock: samples`, no sample has arrived.
constexpr int64_t kEraBegins = 946'684'800;  // 2000-01-01
// Limit per call, so that a daemon that was stopped for years still starts quickly.
constexpr int kMostCloses = 24;
// Interval between searches for held groups. Each search reads the account of the whole period.
constexpr int64_t kHoldsEverySeconds = 900;

// Text after the reason of a hold.
constexpr std::string_view kHeldMeans = "New requests of the group are refused (when_spent), its jobs go on.";

bool AsksTheSame(const brain::BudgetEntry& a, const brain::BudgetEntry& b, bool all) {
  const auto shares = [](const brain::BudgetEntry& e) {
    std::vector<std::pair<brain::BudgetHolder, int64_t>> out;
    for (const brain::BudgetPart& part : e.parts) out.emplace_back(part.holder, part.share_bp);
    return out;
  };
  return a.act == b.act && a.of == b.of && a.to == b.to && (all || a.amount == b.amount) &&
         a.until_s == b.until_s && a.why == b.why && shares(a) == shares(b);
}

}  // namespace

absl::StatusOr<std::unique_ptr<BudgetService>> BudgetService::Open(Options options) {
  std::unique_ptr<BudgetService> service(new BudgetService(std::move(options)));
  service->definition_ = service->options_.definition;
  service->price_ = service->options_.price;
  if (absl::Status s = service->ReadLog(); !s.ok()) return s;
  // Groups that were held before the restart must be held before the first Step(), too. Step() retries after an
  // error and reports the error.
  (void)service->FindFirstHolds();
  return service;
}

absl::Status BudgetService::ReadLog() {
  const std::lock_guard lock(mutex_);
  std::vector<brain::BudgetEntry> entries;
  std::string damage;
  const absl::Status read = options_.log->Read(
      [&](const RequestLogEntry& stored) {
        absl::StatusOr<brain::BudgetEntry> entry = DecodeEntry(stored.text);
        if (entry.ok()) {
          entries.push_back(*std::move(entry));
        } else if (damage.empty()) {
          damage = StrCat("entry ", stored.request, ": ", Message(entry.status()));
        }
      },
      [&](const std::string& what) {
        if (damage.empty()) damage = what;
      });
  if (!read.ok()) return read;
  std::ranges::sort(entries, {}, [](const brain::BudgetEntry& e) { return std::pair(e.time_s, e.id); });
  for (brain::BudgetEntry& e : entries) {
    // Ignore all entries after an invalid entry, because these entries were decided with the invalid entry in
    // effect.
    if (const absl::Status s = accounts_.Apply(e); !s.ok()) {
      damage_ = StrCat("entry ", e.id, ": ", Message(s));
      break;
    }
    Take(std::move(e));
  }
  if (!damage.empty()) damage_ = damage;
  return absl::OkStatus();
}

absl::Status BudgetService::CheckWritable() const {
  if (damage_.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat("the budget ledger is damaged and read-only: ", damage_,
             "; restore the store from a backup, or begin a new ledger (docs/operate/costs.md)"));
}

absl::Status BudgetService::CheckTime() const {
  const std::string doubt = options_.doubt ? options_.doubt() : "";
  return doubt.empty() ? absl::OkStatus() : absl::UnavailableError(doubt);
}

void BudgetService::Take(brain::BudgetEntry entry) {
  if (!entry.key.empty()) by_key_.emplace(std::pair(entry.who, entry.key), ledger_.size());
  if (brain::IsRequest(entry.act)) {
    OfDay& of_day = of_day_[{entry.who, entry.of}];
    const int64_t day = FloorDiv(entry.time_s, int64_t{kDaySeconds});
    of_day = {day, of_day.day == day ? of_day.entries + 1 : 1};
  }
  // A new definition may assign spending to other groups, and a new period covers other days. In both cases, the
  // cached account must be read again.
  if (!brain::IsRequest(entry.act)) account_ = nullptr;
  view_ = nullptr;
  ledger_.push_back(std::move(entry));
}

// Applies the entries to a copy, stores them, and then replaces the accounts, so that either all entries take
// effect or none. An entry that cannot be applied is never stored.
absl::Status BudgetService::Keep(std::vector<brain::BudgetEntry> entries) {
  brain::BudgetAccounts after = accounts_;
  std::vector<RequestLogEntry> stored;
  for (const brain::BudgetEntry& e : entries) {
    if (absl::Status s = after.Apply(e); !s.ok()) return s;
    stored.push_back({e.id, e.time_s, e.who, EncodeEntry(e)});
  }
  if (entries.empty()) return absl::OkStatus();
  if (absl::Status s = options_.log->Append(stored); !s.ok()) {
    ++counts_.failed_writes;
    return absl::Status(s.code(), StrCat("the budget ledger: ", Message(s)));
  }
  accounts_ = std::move(after);
  for (brain::BudgetEntry& e : entries) {
    if (options_.on_entry)
      options_.on_entry(e, Describe(e, e.unit.empty() ? accounts_.UnitOf(e.of) : e.unit));
    Take(std::move(e));
  }
  return absl::OkStatus();
}

absl::Status BudgetService::Define(const brain::BudgetDefinition& definition, const brain::Price& price,
                                   int64_t now_s) {
  const int64_t time_s = std::max(now_s, accounts_.last_time_s());
  absl::StatusOr<std::vector<brain::BudgetEntry>> changes =
      brain::ChangesTo(definition, price, accounts_, time_s);
  if (!changes.ok()) return changes.status();
  uint64_t id = accounts_.last_id();
  for (brain::BudgetEntry& e : *changes) {
    e.id = ++id;
    e.time_s = time_s;
    e.who = options_.source;
    e.why =
        e.act == brain::BudgetAct::kPrices ? "prices of the configuration" : "definition of the budgets file";
  }
  return Keep(*std::move(changes));
}

absl::Status BudgetService::CloseOne(int64_t now_s) {
  brain::SpentByHolder spent;
  const std::shared_ptr<const GroupScheme> scheme = Scheme();
  const absl::StatusOr<GroupDays> days =
      ReadGroupDays(*options_.history, *options_.view(), {scheme.get(), options_.labels, accounts_},
                    accounts_.period().from_s, accounts_.period().to_s);
  if (!days.ok()) return days.status();
  const absl::StatusOr<brain::BudgetSpending> spending = brain::Attribute(accounts_, days->days);
  if (!spending.ok()) return spending.status();
  absl::StatusOr<std::vector<brain::BudgetEntry>> entries =
      accounts_.ClosePeriod(definition_.period, spending->spent, now_s);
  if (!entries.ok()) return entries.status();
  return Keep(*std::move(entries));
}

absl::Status BudgetService::ClosePeriods(int64_t now_s) {
  for (int i = 0; i < kMostCloses && accounts_.period().is_open() && now_s >= accounts_.period().to_s; ++i) {
    const std::optional<WindowId> window = options_.view()->window;
    const bool counted = window.has_value() && window->next().start_s() >= accounts_.period().to_s;
    if (!counted && now_s < accounts_.period().to_s + kCloseAnyway) break;
    if (absl::Status s = CloseOne(now_s); !s.ok()) return s;
  }
  return absl::OkStatus();
}

absl::Status BudgetService::Step() {
  const int64_t now_s = options_.now().seconds();
  const std::lock_guard lock(mutex_);
  // Wait for a reliable time: a period that was closed because of a wrong clock cannot be reopened, because the
  // ledger is append-only.
  if (now_s < kEraBegins || !CheckTime().ok()) return absl::OkStatus();
  if (absl::Status s = options_.log->Check(); !s.ok())
    return absl::Status(s.code(), StrCat("the budget ledger: ", Message(s)));
  if (absl::Status s = CheckWritable(); !s.ok()) {
    // The readable part of a damaged ledger still determines which groups are held.
    if (const absl::Status held = FindHolds(now_s); !held.ok()) return held;
    return s;
  }
  if (absl::Status s = ClosePeriods(now_s); !s.ok()) return s;
  if (absl::Status s = EnterDefinition(now_s); !s.ok()) return s;
  return FindHolds(now_s);
}

absl::Status BudgetService::EnterDefinition(int64_t now_s) {
  if (defined_) return absl::OkStatus();
  const absl::Status s = Define(definition_, price_, now_s);
  if (absl::IsUnavailable(s)) return s;
  defined_ = true;
  refusal_ = s.ok() ? "" : std::string(Message(s));
  view_ = nullptr;
  return s;
}

absl::Status BudgetService::Reload(brain::BudgetDefinition definition, const brain::Price& price) {
  const int64_t now_s = options_.now().seconds();
  const std::lock_guard lock(mutex_);
  if (absl::Status s = CheckWritable(); !s.ok()) return s;
  // Only Step() closes periods. Before the first Step(), usage that a backfill will add may be missing in the
  // account.
  if (now_s >= kEraBegins && CheckTime().ok()) {
    if (absl::Status s = Define(definition, price, now_s); !s.ok()) return s;
    defined_ = true;
  }
  definition_ = std::move(definition);
  price_ = price;
  held_at_s_.reset();
  refusal_.clear();
  view_ = nullptr;
  return absl::OkStatus();
}

absl::Status BudgetService::CheckDay(const brain::BudgetEntry& asked, int64_t now_s) const {
  const auto found = of_day_.find({asked.who, asked.of});
  const int64_t day = FloorDiv(std::max(now_s, accounts_.last_time_s()), int64_t{kDaySeconds});
  if (found == of_day_.end() || found->second.day != day || found->second.entries < options_.entries_per_day)
    return absl::OkStatus();
  return absl::FailedPreconditionError(
      StrCat(found->second.entries, " entries of ", ToText(asked.of),
             " were made today, the most of one person and day "
             "(budgets.entries_per_day): join amounts, or wait until 00:00 UTC"));
}

const brain::BudgetEntry* BudgetService::FindKey(const brain::BudgetEntry& asked) const {
  if (asked.key.empty()) return nullptr;
  const auto found = by_key_.find({asked.who, asked.key});
  return found == by_key_.end() ? nullptr : &ledger_[found->second];
}

absl::StatusOr<brain::BudgetEntry> BudgetService::Submit(brain::BudgetEntry asked, bool all) {
  const int64_t now_s = options_.now().seconds();
  const std::lock_guard lock(mutex_);
  if (const brain::BudgetEntry* before = FindKey(asked); before != nullptr) {
    if (AsksTheSame(*before, asked, all)) return *before;
    return absl::AlreadyExistsError(StrCat("entry ", before->id, " has the key \"", asked.key,
                                           "\" and asks for something else: expected another key"));
  }
  if (absl::Status s = CheckWritable(); !s.ok()) return s;
  if (absl::Status s = CheckTime(); !s.ok()) return s;
  if (!accounts_.period().is_open())
    return absl::UnavailableError("no period is open yet: the clock is not known before the first sample");
  if (absl::Status s = CheckDay(asked, now_s); !s.ok()) {
    ++counts_.refused;
    return s;
  }
  const auto account = Read(now_s);
  if (!account.ok()) return account.status();
  const absl::StatusOr<brain::BudgetSpending> spent = brain::Attribute(accounts_, (*account)->days);
  if (!spent.ok()) return spent.status();
  absl::StatusOr<brain::BudgetEntry> made = accounts_.Make(std::move(asked), all, spent->spent, now_s);
  if (!made.ok()) {
    ++counts_.refused;
    return made;
  }
  if (absl::Status s = Keep({*made}); !s.ok()) return s;
  return made;
}

absl::StatusOr<std::shared_ptr<const BudgetService::Account>> BudgetService::Read(int64_t now_s) {
  const std::shared_ptr<const FleetView> fleet = options_.view();
  const std::shared_ptr<const GroupScheme> scheme = Scheme();
  if (account_ != nullptr && account_->window == fleet->window && account_->scheme == scheme) return account_;
  auto account = std::make_shared<Account>();
  account->window = fleet->window;
  account->scheme = scheme;
  account->counted_s = fleet->window.has_value() ? fleet->window->next().start_s() : now_s;
  const auto read = [&](int64_t from_s, int64_t to_s) {
    return ReadGroupDays(*options_.history, *fleet, {scheme.get(), options_.labels, accounts_}, from_s, to_s);
  };
  if (accounts_.period().is_open()) {
    absl::StatusOr<GroupDays> days =
        read(accounts_.period().from_s, std::min(account->counted_s, accounts_.period().to_s));
    if (!days.ok()) return days.status();
    account->days = std::move(days->days);
    absl::StatusOr<GroupDays> recent =
        read(brain::NextDay(account->counted_s) - kRateDays * kDaySeconds, account->counted_s);
    if (!recent.ok()) return recent.status();
    // An account that is younger than kRateDays covers fewer days.
    account->recent_s = account->counted_s - recent->first_s.value_or(account->counted_s);
    account->recent = std::move(recent->days);
  }
  view_ = nullptr;
  account_ = std::move(account);
  return account_;
}

absl::Status BudgetService::Divide(const Account& account, BudgetView& view) const {
  absl::StatusOr<brain::BudgetSpending> spent = brain::Attribute(accounts_, account.days);
  if (!spent.ok()) return spent.status();
  view.spent = *std::move(spent);
  std::vector<brain::GroupDay> whole = account.days;
  if (account.recent_s > 0) {
    const auto rest = brain::RestOfPeriod(accounts_, account.recent, account.recent_s, account.counted_s);
    if (!rest.ok()) return rest.status();
    whole.insert(whole.end(), rest->begin(), rest->end());
  }
  absl::StatusOr<brain::BudgetSpending> forecast = brain::Attribute(accounts_, std::move(whole));
  if (!forecast.ok()) return forecast.status();
  view.forecast = *std::move(forecast);
  return absl::OkStatus();
}

absl::Status BudgetService::FindFirstHolds() {
  const int64_t now_s = options_.now().seconds();
  const std::lock_guard lock(mutex_);
  return accounts_.period().is_open() ? FindHolds(now_s) : absl::OkStatus();
}

absl::Status BudgetService::FindHolds(int64_t now_s) {
  const bool any = std::ranges::any_of(definition_.groups, [](const brain::BudgetDefinition::GroupRow& row) {
    return row.when_spent == brain::WhenSpent::kRefuse;
  });
  std::shared_ptr<Holds> found;
  if (any) {
    std::shared_ptr<const GroupScheme> scheme = Scheme();
    const std::shared_ptr<const Holds> before = holds();
    const bool recent =
        held_at_s_.has_value() && now_s >= *held_at_s_ && now_s - *held_at_s_ < kHoldsEverySeconds;
    if (recent && held_entries_ == ledger_.size() && before != nullptr && before->scheme == scheme)
      return absl::OkStatus();
    const auto view = ViewAt(now_s);
    if (!view.ok()) return view.status();
    found = std::make_shared<Holds>();
    // Compute the holds again, because the view may be older than the end of an override.
    found->why = brain::HeldGroups(definition_, accounts_, (*view)->spent.spent, now_s);
    for (const brain::BudgetDefinition::GroupRow& row : definition_.groups) found->groups.insert(row.name);
    found->scheme = std::move(scheme);
  }
  held_at_s_ = now_s;
  held_entries_ = ledger_.size();
  const bool same = (found == nullptr ? brain::GroupHolds() : found->why) == held();
  {
    const std::lock_guard lock(holds_mutex_);
    holds_ = std::move(found);
  }
  if (!same) view_ = nullptr;  // the view contains the held groups
  return absl::OkStatus();
}

std::shared_ptr<const BudgetService::Holds> BudgetService::holds() const {
  const std::lock_guard lock(holds_mutex_);
  return holds_;
}

std::string BudgetService::WhyHeld(std::string_view group) const {
  const std::shared_ptr<const Holds> holds = this->holds();
  if (holds == nullptr || holds->why.empty()) return "";
  const std::string paying =
      holds->scheme->NearestAbove(group, [&](std::string_view name) { return holds->groups.contains(name); });
  const auto found = holds->why.find(paying);
  return found == holds->why.end() ? "" : found->second;
}

brain::GroupHolds BudgetService::held() const {
  const std::shared_ptr<const Holds> holds = this->holds();
  return holds == nullptr ? brain::GroupHolds() : holds->why;
}

absl::StatusOr<std::shared_ptr<const BudgetView>> BudgetService::View() {
  const int64_t now_s = options_.now().seconds();
  const std::lock_guard lock(mutex_);
  return ViewAt(now_s);
}

absl::StatusOr<std::shared_ptr<const BudgetView>> BudgetService::ViewAt(int64_t now_s) {
  const auto account = Read(now_s);
  if (!account.ok()) return account.status();
  if (view_ != nullptr) return view_;
  auto view = std::make_shared<BudgetView>();
  view->accounts = accounts_;
  view->counted_s = (*account)->counted_s;
  if (!damage_.empty()) view->warnings.emplace_back(Message(CheckWritable()));
  if (!refusal_.empty())
    view->warnings.push_back(StrCat("the budgets file is not in force but for when_spent: ", refusal_));
  if (absl::Status s = Divide(**account, *view); !s.ok()) return s;
  view->held = held();
  for (const auto& [group, why] : view->held) view->warnings.push_back(StrCat(why, " ", kHeldMeans));
  view_ = std::move(view);
  return view_;
}

brain::BudgetAccounts BudgetService::accounts() const {
  const std::lock_guard lock(mutex_);
  return accounts_;
}

std::vector<brain::BudgetEntry> BudgetService::Ledger(
    absl::FunctionRef<std::optional<brain::BudgetEntry>(const brain::BudgetEntry&)> shown,
    size_t limit) const {
  const std::lock_guard lock(mutex_);
  std::vector<brain::BudgetEntry> out;
  for (auto e = ledger_.rbegin(); e != ledger_.rend() && out.size() < limit; ++e) {
    if (std::optional<brain::BudgetEntry> entry = shown(*e); entry.has_value())
      out.push_back(*std::move(entry));
  }
  return out;
}

BudgetCounts BudgetService::counts() const {
  const std::lock_guard lock(mutex_);
  BudgetCounts out = counts_;
  out.entries = ledger_.size();
  return out;
}

}  // namespace taut::server
