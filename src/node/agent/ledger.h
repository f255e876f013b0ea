// What the agent has changed on this machine, and what was there before: what `tautlet --release` restores.
// Written before a limit is, and again after it was read back, so that no kill of the agent makes a change
// that cannot be undone. Beside it, what the agent must know after a restart without asking the daemon: what
// it may do to each job, and which raises and owners' changes an older order must not undo.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/model/resource.h"
#include "node/agent/oom_scores.h"
#include "node/agent/task_group.h"

namespace taut::node {

using LimitValue = std::optional<double>;  // as the kernel holds it; absent: no limit

struct LedgerValue {
  LimitValue owner;
  std::optional<LimitValue> set;   // written by the agent and read back; absent: never
  std::optional<LimitValue> next;  // about to be written: the kernel holds this one or `set`
};

// What outlives a restart of one resource of a task. Times are seconds of the agent's clock.
struct LedgerHold {
  std::optional<int64_t> owner_changed_s;  // another program changed the limit
  std::optional<int64_t> oom_s;            // the last OOM kill
  std::optional<double> oom_floor, throttle_floor;
  std::optional<int64_t> throttle_until_s;

  bool operator==(const LedgerHold&) const = default;
};

struct LedgerEntry {
  std::string job, task;
  std::map<LimitKind, LedgerValue> values;  // of what was ever changed
  PerResource<LedgerHold> holds;            // by Resource
  std::optional<OomScoreRecord> scores;     // oom_score_adj of the task's processes

  // Something of it is the agent's.
  bool is_changed() const { return !values.empty() || scores.has_value(); }
};

// What may be done to a job's tasks without being asked (proto/agent.proto, Terms).
struct JobTerms {
  bool apply = false;
  std::optional<double> cpu_upper, memory_upper;
  std::optional<int64_t> startup_grace_s;

  bool operator==(const JobTerms&) const = default;
};

// How far an act of the guard of memory is.
enum class ActState : uint8_t {
  kBegun,  // about to be done, or done and not reported yet
  kStands  // a throttle that is reported, and lasts
};

struct LedgerContent {
  std::map<std::string, LedgerEntry> entries;  // by identity
  std::map<std::string, JobTerms> terms;       // by job
  std::map<std::string, ActState> acts;        // by text, which the ledger does not read
};

// One file of lines, replaced as a whole. docs/reference/storage.md, "The agent's ledger".
class Ledger {
 public:
  // "": in memory, for an agent that changes nothing. A file that is not there is an empty ledger. DataLoss:
  // a line that cannot be read, with its number; nothing may be changed then, as the old limits are unknown.
  static absl::StatusOr<Ledger> Open(const std::string& path);

  const LedgerEntry* Find(const std::string& identity) const;
  const std::map<std::string, LedgerEntry>& entries() const { return content_.entries; }
  const std::map<std::string, JobTerms>& terms() const { return content_.terms; }
  const std::map<std::string, ActState>& acts() const { return content_.acts; }

  // `next` is about to be written. The owner's value is kept from the first call on.
  void Intend(const FoundTask& task, LimitKind kind, LimitValue owner, LimitValue next);
  // What was intended was read back.
  void Confirm(const std::string& identity, LimitKind kind);
  // What was intended was not written. A value that was never set is forgotten.
  void Withdraw(const std::string& identity, LimitKind kind);
  // The kernel holds `set`. The owner's value is kept from the first call on.
  void Note(const FoundTask& task, LimitKind kind, LimitValue owner, LimitValue set);
  void SetOwner(const std::string& identity, LimitKind kind, LimitValue owner);
  void SetHold(const FoundTask& task, Resource r, const LedgerHold& hold);
  // Absent: the processes have their owners' again.
  void SetScores(const FoundTask& task, const std::optional<OomScoreRecord>& scores);
  void SetTerms(const std::string& job, const JobTerms& terms);
  void Forget(const std::string& identity);
  void ForgetTerms(const std::string& job);
  void NoteAct(const std::string& text, ActState state);
  void DropAct(const std::string& text);

  // When OK, no kill of the agent loses it, and no loss of power what that leaves in force (containers'
  // limits, not cgroups'). Without changes since the last OK it does nothing. Some 50 us; with containers
  // what the disk takes.
  absl::Status Save();

  static std::string Text(const LedgerContent& content);
  // Also reads the files of earlier versions: the first knew neither `next` nor holds nor terms, the second no
  // startup_grace, the third no acts, the fourth no scores. Text writes the oldest version from the third on that
  // has all of it, for older agents.
  static absl::StatusOr<LedgerContent> Parse(std::string_view text, std::string_view name);

 private:
  LedgerEntry& EntryOf(const FoundTask& task);
  void ForgetIfEmpty(const std::string& identity);
  LedgerValue* ValueOf(const std::string& identity, LimitKind kind);

  std::string path_;
  bool changed_ = false;
  LedgerContent content_;
};

}  // namespace taut::node
