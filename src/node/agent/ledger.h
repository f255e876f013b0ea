// The agent's record of the values that it changed on this machine, and of the earlier values: `tautlet --release`
// restores these values. The ledger is saved before a limit is written and again after the limit was read back, so
// that each change can be undone even if the agent is killed. The ledger also stores the state that the agent
// needs after a restart without the daemon. This state consists of the terms of each job, and of the raises and
// owners' changes that older orders must not undo.
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

using LimitValue = std::optional<double>;  // value of a kernel limit; absent: no limit

struct LedgerValue {
  LimitValue owner;
  std::optional<LimitValue> set;   // written by the agent and read back; absent: never
  std::optional<LimitValue> next;  // about to be written: the kernel has this value or `set`
};

// State of one resource of a task that outlives a restart. Times are seconds of the agent's clock.
struct LedgerHold {
  std::optional<int64_t> owner_changed_s;  // time at which another program changed the limit
  std::optional<int64_t> oom_s;            // time of the last OOM kill
  std::optional<double> oom_floor, throttle_floor;
  std::optional<int64_t> throttle_until_s;

  bool operator==(const LedgerHold&) const = default;
};

struct LedgerEntry {
  std::string job, task;
  std::map<LimitKind, LedgerValue> values;  // the limits that the agent ever changed
  PerResource<LedgerHold> holds;            // indexed by Resource
  std::optional<OomScoreRecord> scores;     // oom_score_adj of the task's processes

  // True if the agent has changed any value of the task.
  bool is_changed() const { return !values.empty() || scores.has_value(); }
};

// The changes that the agent may make to a job's tasks by itself (proto/agent.proto, Terms).
struct JobTerms {
  bool apply = false;
  std::optional<double> cpu_upper, memory_upper;
  std::optional<int64_t> startup_grace_s;

  bool operator==(const JobTerms&) const = default;
};

// State of an act of the memory guard.
enum class ActState : uint8_t {
  kBegun,  // about to be done, or done and not reported yet
  kStands  // a throttle that is reported and still lasts
};

struct LedgerContent {
  std::map<std::string, LedgerEntry> entries;  // keyed by identity
  std::map<std::string, JobTerms> terms;       // keyed by job
  std::map<std::string, ActState> acts;        // keyed by the act's text, which the ledger does not interpret
};

// One file of lines, replaced as a whole (docs/reference/storage.md, "The agent's ledger"). Not thread-safe.
// Each change is in memory until Save.
class Ledger {
 public:
  // Opens the ledger file; with path "" the ledger is only in memory, for an agent that changes nothing. A
  // missing file is an empty ledger. Unavailable if the file cannot be read. DataLoss, with the line's
  // number, if a line is malformed: the old limits are then unknown and nothing may be changed.
  static absl::StatusOr<Ledger> Open(const std::string& path);

  const LedgerEntry* Find(const std::string& identity) const;
  const std::map<std::string, LedgerEntry>& entries() const { return content_.entries; }
  const std::map<std::string, JobTerms>& terms() const { return content_.terms; }
  const std::map<std::string, ActState>& acts() const { return content_.acts; }

  // Records that `next` is about to be written. Only the first call stores the owner's value.
  void Intend(const FoundTask& task, LimitKind kind, LimitValue owner, LimitValue next);
  // Records that the intended value was read back.
  void Confirm(const std::string& identity, LimitKind kind);
  // Records that the intended value was not written. An entry that was never set is deleted.
  void Withdraw(const std::string& identity, LimitKind kind);
  // Records that `set` is the kernel's value. Only the first call stores the owner's value.
  void Note(const FoundTask& task, LimitKind kind, LimitValue owner, LimitValue set);
  void SetOwner(const std::string& identity, LimitKind kind, LimitValue owner);
  void SetHold(const FoundTask& task, Resource r, const LedgerHold& hold);
  // Records the oom_score_adj of a task's processes. Absent: the processes have their owners' values again.
  void SetScores(const FoundTask& task, const std::optional<OomScoreRecord>& scores);
  void SetTerms(const std::string& job, const JobTerms& terms);
  void Forget(const std::string& identity);
  void ForgetTerms(const std::string& job);
  void NoteAct(const std::string& text, ActState state);
  void DropAct(const std::string& text);

  // Once Save returns OK, the content survives a kill of the agent. If the ledger contains limits of containers,
  // which survive a loss of power, the content also survives a loss of power. Does nothing if nothing changed.
  // Save takes about 50 us; if the ledger contains limits of containers, it also calls fsync twice.
  absl::Status Save();

  static std::string Text(const LedgerContent& content);
  // Parses the files of all versions. Version 1 had no `next`, holds or terms, version 2 no startup_grace,
  // version 3 no acts, version 4 no scores. Text() writes the oldest version from 3 on that can hold the
  // content, so that older agents can read it. DataLoss if a line is malformed.
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
