// Budgets of a running daemon: the ledger, the definition in a file, requests of people, and spending from the
// account. An entry takes effect after it was stored.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "brain/economy/budget_accounts.h"
#include "brain/economy/budget_definition.h"
#include "brain/economy/budget_hold.h"
#include "brain/economy/budget_spending.h"
#include "server/control/fleet_view.h"
#include "server/pool/group_scheme.h"
#include "server/pool/group_spend.h"
#include "server/store/request_log.h"
#include "server/store/store.h"

namespace taut::server {

// Snapshot of the budgets. Immutable, thus thread-safe.
struct BudgetView {
  brain::BudgetAccounts accounts;
  int64_t counted_s = 0;           // end of the last window whose spending is included, Unix time
  brain::BudgetSpending spent;     // spending in the open period so far
  brain::BudgetSpending forecast;  // spending by the end of the period at the rate of the last 7 days
  brain::GroupHolds held;
  std::vector<std::string> warnings;
};

struct BudgetCounts {
  uint64_t entries = 0;                     // number of entries in the ledger
  uint64_t refused = 0, failed_writes = 0;  // refused requests and failed writes since the start
};

// Maintains the budgets. Thread-safe.
class BudgetService {
 public:
  struct Options {
    brain::BudgetDefinition definition;
    brain::Price price;  // current price
    std::string source;  // author of the definition's entries, such as "file budgets.yaml"
    // Maximum number of requests of one person about one holder per day (UTC). Bounds the ledger, which is never
    // truncated.
    int entries_per_day = 500;
    RequestLog* log = nullptr;  // log of the ledger; must outlive the service, like the history
    History* history = nullptr;
    std::function<std::shared_ptr<const FleetView>()> view;
    // Returns the groups of the quota; null if no quota is defined. Empty function: no quota is defined.
    std::function<std::shared_ptr<const GroupScheme>()> scheme = {};
    std::vector<LabelGroup> labels = {};  // groups of the definition that are formed by labels
    std::function<Timestamp()> now;
    // Returns the reason why the time may be wrong; "" if the time is reliable. While there is a reason, no entry
    // is made. Empty function: the time is always reliable.
    std::function<std::string()> doubt = {};
    // Called under the lock after an entry was stored; must be short.
    std::function<void(const brain::BudgetEntry&, const std::string& text)> on_entry;
  };
  // Reads the ledger. If the ledger is damaged or missing, the service is read-only, and View() contains a
  // warning. Returns errors of the log.
  static absl::StatusOr<std::unique_ptr<BudgetService>> Open(Options options);

  // Closes finished periods, enters changes of the definition, and finds the groups that may not start new work.
  // The next call retries after an error. A change that is not allowed becomes a warning in View(), without a
  // retry.
  absl::Status Step();
  // Enters another definition or price at once. An error leaves the accounts unchanged.
  absl::Status Reload(brain::BudgetDefinition definition, const brain::Price& price);
  // Enters a request of `asked.who`. With `all`, the amount is everything that is available. If an earlier entry
  // has the same key, returns this entry if its contents are equal, and AlreadyExists otherwise. Returns
  // FailedPrecondition beyond entries_per_day and while the service is read-only. Returns errors of
  // BudgetAccounts::Make(), and Unavailable from the log, before the first sample, and while the time may be
  // wrong.
  absl::StatusOr<brain::BudgetEntry> Submit(brain::BudgetEntry asked, bool all);
  // Returns the current state, which is cached until a window closes or an entry is made. Computing a new state
  // costs O(account of the period).
  absl::StatusOr<std::shared_ptr<const BudgetView>> View();
  // Returns the reason why this group may not start new work: the budget of the group, or of its nearest ancestor
  // with a budget, is spent. Returns "" if the group may start work or the answer is unknown. Uses the spending at
  // the last entry, or at a later time that is at most a quarter of an hour ago. Never waits for a read of the
  // account.
  std::string WhyHeld(std::string_view group) const;
  // Returns the groups that may not start new work, with the reasons. Never waits for a read of the account.
  brain::GroupHolds held() const;
  // Returns a copy of the current accounts.
  brain::BudgetAccounts accounts() const;
  // Returns the entries after conversion by `shown`, newest first. Omits entries for which `shown` returns
  // nullopt.
  std::vector<brain::BudgetEntry> Ledger(
      absl::FunctionRef<std::optional<brain::BudgetEntry>(const brain::BudgetEntry&)> shown,
      size_t limit) const;
  BudgetCounts counts() const;
  int64_t now_s() const { return options_.now().seconds(); }
  std::span<const LabelGroup> labels() const { return options_.labels; }

 private:
  // Spending from the account before it is divided among holders.
  struct Account {
    std::optional<WindowId> window;  // last closed window
    std::shared_ptr<const GroupScheme> scheme;
    int64_t counted_s = 0;
    std::vector<brain::GroupDay> days, recent;
    int64_t recent_s = 0;  // time that `recent` covers, in seconds
  };
  struct Holds {
    brain::GroupHolds why;
    std::set<std::string, std::less<>> groups;  // groups with a budget
    std::shared_ptr<const GroupScheme> scheme;
  };
  explicit BudgetService(Options options) : options_(std::move(options)) {}
  absl::Status ReadLog();
  absl::Status FindFirstHolds();
  // REQUIRES (all functions below, except where noted): mutex_ is locked.
  absl::Status CheckWritable() const;
  // Returns the scheme of the quota; null without quota. Does not require mutex_.
  std::shared_ptr<const GroupScheme> Scheme() const { return options_.scheme ? options_.scheme() : nullptr; }
  absl::Status CheckTime()
      const;  // Returns Unavailable while the time may be wrong. Does not require mutex_.
  absl::Status EnterDefinition(int64_t now_s);
  absl::Status Define(const brain::BudgetDefinition& definition, const brain::Price& price, int64_t now_s);
  absl::StatusOr<std::shared_ptr<const BudgetView>> ViewAt(int64_t now_s);
  absl::Status FindHolds(int64_t now_s);
  // result of the last search, null before the first; needs no lock
  std::shared_ptr<const Holds> holds() const;
  absl::Status ClosePeriods(int64_t now_s);
  absl::Status CloseOne(int64_t now_s);
  // Returns the account of the open period and of the last days. Reads the account again after a window has
  // closed, and after groups, rules or prices have changed.
  absl::StatusOr<std::shared_ptr<const Account>> Read(int64_t now_s);
  absl::Status Divide(const Account& account, BudgetView& view) const;
  absl::Status Keep(std::vector<brain::BudgetEntry> entries);
  void Take(brain::BudgetEntry entry);
  absl::Status CheckDay(const brain::BudgetEntry& asked, int64_t now_s) const;
  const brain::BudgetEntry* FindKey(const brain::BudgetEntry& asked) const;

  const Options options_;
  mutable std::mutex mutex_;
  brain::BudgetAccounts accounts_;
  std::vector<brain::BudgetEntry> ledger_;
  // index in ledger_; key: person and key of the request
  std::map<std::pair<std::string, std::string>, size_t> by_key_;
  struct OfDay {
    int64_t day = 0;
    int entries = 0;
  };
  // Number of requests on the last day with a request; key: person and holder.
  std::map<std::pair<std::string, brain::BudgetHolder>, OfDay> of_day_;
  brain::BudgetDefinition definition_;
  brain::Price price_;
  bool defined_ = false;  // true if definition_ was entered or refused
  std::string refusal_;   // reason why the definition was refused; "" if it was not
  std::string damage_;    // description of the ledger's damage; "" if the ledger is intact
  BudgetCounts counts_;
  std::shared_ptr<const Account> account_;  // cached account; null: must be read from the store
  std::shared_ptr<const BudgetView> view_;  // view computed from account_ and accounts_
  std::optional<int64_t> held_at_s_;        // Unix time at which holds_ were found; absent: must be found
  size_t held_entries_ = 0;                 // size of the ledger when holds_ were found
  mutable std::mutex holds_mutex_;          // lock for holds_ only; locked last
  std::shared_ptr<const Holds> holds_;
};

}  // namespace taut::server
