// Budgets of a running daemon: the ledger, which is stored before it counts, what the file defines, what
// people ask for, and what the account says was spent.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
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
#include "server/store/request_log.h"
#include "server/store/store.h"

namespace taut::server {

// Immutable: any thread.
struct BudgetView {
  brain::BudgetAccounts accounts;
  int64_t counted_s = 0;           // up to where is counted: the end of the last window
  brain::BudgetSpending spent;     // of the open period, so far
  brain::BudgetSpending forecast;  // at its end, if the rest is as the last 7 days
  brain::GroupHolds held;
  std::vector<std::string> warnings;
};

struct BudgetCounts {
  uint64_t entries = 0;                     // in the ledger
  uint64_t refused = 0, failed_writes = 0;  // since the start
};

// Thread-safe.
class BudgetService {
 public:
  struct Options {
    brain::BudgetDefinition definition;
    brain::Price price;  // of now
    std::string source;  // who enters the definition: "file budgets.yaml"
    // Requests of one person about one holder in a day of UTC: the ledger is kept for good.
    int entries_per_day = 500;
    RequestLog* log = nullptr;  // outlives the service, as does the history
    History* history = nullptr;
    std::function<std::shared_ptr<const FleetView>()> view;
    std::function<std::shared_ptr<const GroupScheme>()> scheme;
    std::function<Timestamp()> now;
    // Why the time may be wrong; "" while it is known. Until then nothing is entered. Empty: it always is known.
    std::function<std::string()> doubt = {};
    std::function<void(const brain::BudgetEntry&, const std::string& text)>
        on_entry;  // once it is stored; be quick
  };
  // Reads the ledger. What is damaged in it, or missing, makes the service read-only: see warnings of View.
  // Errors of the log.
  static absl::StatusOr<std::unique_ptr<BudgetService>> Open(Options options);

  // Ends periods that are over, enters what the definition changes, and finds which groups may start nothing new.
  // Not OK: it is tried again with the next call. What the definition may not change is a warning of View, and is
  // not tried again.
  absl::Status Step();
  // Another definition or price, entered at once. Not OK: the accounts stays as it was.
  absl::Status Reload(brain::BudgetDefinition definition, const brain::Price& price);
  // A request of `asked.who`, entered; or the entry that it made before, if it has the key of that one and
  // asks for the same. AlreadyExists if it asks for something else, FailedPrecondition above entries_per_day.
  // Errors as BudgetAccounts::Make, Unavailable from the log or while the time may be wrong.
  absl::StatusOr<brain::BudgetEntry> Submit(brain::BudgetEntry asked, bool all);
  // Kept until another window has closed or something is entered. O(account of the period) then.
  absl::StatusOr<std::shared_ptr<const BudgetView>> View();
  // Why this group, or the one with a budget that it is below, may start nothing new: "" if it may, or if that is
  // not known. By what was spent a quarter of an hour ago, or at the last entry. Takes no lock that is held while
  // the account is read.
  std::string WhyHeld(std::string_view group) const;
  brain::GroupHolds held() const;
  // As it is now.
  brain::BudgetAccounts accounts() const;
  // Newest first: what `shown` makes of each entry, without those of which it makes nothing.
  std::vector<brain::BudgetEntry> Ledger(
      absl::FunctionRef<std::optional<brain::BudgetEntry>(const brain::BudgetEntry&)> shown,
      size_t limit) const;
  BudgetCounts counts() const;
  int64_t now_s() const { return options_.now().seconds(); }

 private:
  // What the account says, before it is divided.
  struct Account {
    std::optional<WindowId> window;  // closed last
    std::shared_ptr<const GroupScheme> scheme;
    int64_t counted_s = 0;
    std::vector<brain::GroupDay> days, recent;
    int64_t recent_s = 0;  // how much time `recent` is of
  };
  struct Holds {
    brain::GroupHolds why;
    std::set<std::string, std::less<>> groups;  // with a budget
    std::shared_ptr<const GroupScheme> scheme;
  };
  explicit BudgetService(Options options) : options_(std::move(options)) {}
  absl::Status ReadLog();
  absl::Status FindFirstHolds();
  // These REQUIRE mutex_.
  absl::Status CheckWritable() const;
  absl::Status CheckTime() const;  // Unavailable while the time may be wrong; does not require it
  absl::Status EnterDefinition(int64_t now_s);
  absl::Status Define(const brain::BudgetDefinition& definition, const brain::Price& price, int64_t now_s);
  absl::StatusOr<std::shared_ptr<const BudgetView>> ViewAt(int64_t now_s);
  absl::Status FindHolds(int64_t now_s);
  std::shared_ptr<const Holds> holds() const;  // does not require it; null: none
  absl::Status ClosePeriods(int64_t now_s);
  absl::Status CloseOne(int64_t now_s);
  // The account of the open period and of the last days, read again once a window has closed or the groups,
  // their rules or the prices have changed.
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
  std::map<std::pair<std::string, std::string>, size_t> by_key_;  // who and key: index in ledger_
  struct OfDay {
    int64_t day = 0;
    int entries = 0;
  };
  std::map<std::pair<std::string, brain::BudgetHolder>, OfDay>
      of_day_;  // requests by who and of whom, on their last day
  brain::BudgetDefinition definition_;
  brain::Price price_;
  bool defined_ = false;  // or refused
  std::string refusal_;   // of the definition; "": none
  std::string damage_;    // of the ledger; "": none
  BudgetCounts counts_;
  std::shared_ptr<const Account> account_;  // null: to be read
  std::shared_ptr<const BudgetView> view_;  // of account_ and accounts_
  std::optional<int64_t> held_at_s_;        // when holds_ were found; absent: to be found
  size_t held_entries_ = 0;                 // of the ledger then
  mutable std::mutex holds_mutex_;          // of holds_ alone; taken last
  std::shared_ptr<const Holds> holds_;
};

}  // namespace taut::server
