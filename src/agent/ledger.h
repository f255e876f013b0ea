// What the agent has changed on this machine, and what was there before: the way back. Written before a limit
// is, so that no kill of the agent makes a change that cannot be undone.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ports/task_group.h"

namespace taut {

struct LedgerValue {
  std::optional<double> owner, set;  // absent: no limit
};
struct LedgerEntry {
  std::string job, task;
  std::map<LimitKind, LedgerValue> values;  // of what was ever changed
};

// One file of lines, replaced as a whole. docs/formats.md, "The agent's ledger".
class Ledger {
 public:
  // "": in memory, for an agent that changes nothing. A file that is not there is an empty ledger. DataLoss:
  // a line that cannot be read, with its number; nothing may be changed then, as the way back is not known.
  static absl::StatusOr<Ledger> Open(const std::string& path);

  const LedgerEntry* Find(const std::string& identity) const;
  const std::map<std::string, LedgerEntry>& entries() const { return entries_; }
  // The owner's value is kept from the first call on.
  void Note(const FoundTask& task, LimitKind kind, std::optional<double> owner, std::optional<double> set);
  void SetOwner(const std::string& identity, LimitKind kind, std::optional<double> owner);
  void Forget(const std::string& identity);

  // When OK, no kill of the agent loses it, and no loss of power what that leaves in force (containers'
  // limits, not cgroups'). Without changes since the last OK it does nothing. Some 50 us; with containers
  // what the disk takes.
  absl::Status Save();

  static std::string Text(const std::map<std::string, LedgerEntry>& entries);
  static absl::StatusOr<std::map<std::string, LedgerEntry>> Parse(std::string_view text,
                                                                  std::string_view name);

 private:
  std::string path_;
  bool changed_ = false;
  std::map<std::string, LedgerEntry> entries_;  // by identity
};

}  // namespace taut
