#include "server/store/pass_writer.h"

#include <algorithm>
#include <map>

#include "server/store/account_block.h"
#include "server/store/records.h"
#include "server/store/schema.h"
#include "server/store/window_block.h"

namespace taut::server {

namespace {

int64_t EndsSum(std::optional<int64_t> window, std::optional<int64_t> job, const PassEnds& ends) {
  return RowSum::Of(window, job, ends.decision, ends.setting);
}

}  // namespace

absl::StatusOr<PassEnds> PassWriter::ReadEnds() {
  Rows rows = read_ends_.Query();
  const absl::StatusOr<bool> any = rows.Next();
  if (!any.ok()) return any.status();
  PassEnds ends;
  if (!*any) {
    const absl::StatusOr<int64_t> rest =
        db_->Number("SELECT EXISTS(SELECT 1 FROM windows) OR EXISTS(SELECT 1 FROM jobs)");
    if (!rest.ok()) return rest.status();
    if (*rest != 0) return Damaged(db_->path(), "its table ends is empty");
    return ends;  // nothing was ever stored
  }
  if (const auto window = rows.IntOrNull(0)) ends.window = WindowId{static_cast<int32_t>(*window)};
  if (const auto job = rows.IntOrNull(1)) ends.job = static_cast<uint32_t>(*job);
  ends.decision = static_cast<uint64_t>(rows.Int(2));
  ends.setting = static_cast<uint64_t>(rows.Int(3));
  if (rows.Int(4) != EndsSum(rows.IntOrNull(0), rows.IntOrNull(1), ends)) {
    return Damaged(db_->path(), "the checksum of its table ends does not match");
  }
  return ends;
}

absl::Status PassWriter::Write(const PassRecord& pass, const PassEnds& ends) {
  auto transaction = Transaction::Begin(*db_, Transaction::Kind::kWrite);
  if (!transaction.ok()) return transaction.status();
  absl::Status status;
  if (pass.window != nullptr) status = WriteWindow(*pass.window);
  if (status.ok() && pass.window != nullptr) status = WriteAccount(pass.window->window, pass.account);
  if (status.ok()) status = WriteJobs(pass);
  if (status.ok()) status = WriteDecisions(pass);
  if (status.ok()) status = WriteRest(pass);
  for (const JobPast& past : pass.pasts) {
    if (status.ok()) status = WritePast(past);
  }
  if (status.ok()) status = WriteLateAccount(pass.late_account);
  if (!status.ok()) return status;
  std::optional<int64_t> window, job;
  if (ends.window) window = ends.window->index;
  if (ends.job) job = *ends.job;
  // The last numbers are part of the transaction, because stored numbers must never be assigned again.
  status = ends_.Run(window, job, ends.decision, ends.setting, EndsSum(window, job, ends));
  return status.ok() ? (*transaction)->Commit() : status;
}

absl::Status PassWriter::WriteWindow(const ClosedWindow& w) {
  absl::Status status = window_.Run(w.window.index);
  for (size_t begin = 0; status.ok() && begin < w.jobs.size();) {
    const uint32_t chunk = ChunkOf(w.jobs[begin].job);
    size_t end = begin;
    while (end < w.jobs.size() && ChunkOf(w.jobs[end].job) == chunk) ++end;
    const std::string block = EncodeWindowBlock(w, begin, end);
    status = block_.Run(WindowKey(w.window.index, chunk), Blob{block});
    begin = end;
  }
  return status;
}

absl::Status PassWriter::WriteAccount(WindowId window, std::span<const AccountEntry> entries) {
  absl::Status status;
  while (status.ok() && !entries.empty()) {
    const uint32_t chunk = AccountChunkOf(entries.front().job);
    size_t jobs = 0;
    while (jobs < entries.size() && AccountChunkOf(entries[jobs].job) == chunk) ++jobs;
    const std::string block = EncodeAccountBlock(entries.first(jobs), window, chunk);
    status = account_.Run(WindowKey(window.index, chunk), Blob{block});
    entries = entries.subspan(jobs);
  }
  return status;
}

// Writes one row per day and chunk.
absl::Status PassWriter::WriteLateAccount(std::span<const LateAccount> late) {
  std::map<int64_t, std::vector<AccountEntry>> blocks;
  for (const LateAccount& l : late)
    blocks[WindowKey(l.first.index, AccountChunkOf(l.entry.job))].push_back(l.entry);
  absl::Status status;
  for (auto& [key, entries] : blocks) {
    if (!status.ok()) return status;
    std::ranges::sort(entries, {}, &AccountEntry::job);
    const std::string block = EncodeAccountBlock(entries, WindowId{WindowOfKey(key)}, ChunkOfKey(key));
    status = late_account_.Run(key, Blob{block});
  }
  return status;
}

absl::Status PassWriter::WriteJobs(const PassRecord& pass) {
  const auto write = [](Statement& statement, const JobRecord& job) {
    const std::string labels = EncodeLabels(job.labels);
    const std::string parts = EncodeParts(job.parts);
    return statement.Run(job.id.value, job.first_seen_s, job.name, Blob{labels}, SumOf(job), Blob{parts});
  };
  absl::Status status;
  for (const JobRecord& job : pass.new_jobs) {
    if (status.ok()) status = write(job_, job);
  }
  for (const JobId id : pass.forgotten_jobs) {
    if (status.ok()) status = forget_job_.Run(id.value, pass.forgotten_s);
  }
  for (const JobRecord& job : pass.returned_jobs) {
    if (status.ok()) status = write(return_job_, job);
  }
  for (const JobRecord& job : pass.relabelled_jobs) {
    if (status.ok()) status = write(return_job_, job);
  }
  if (!status.ok()) return status;
  return absl::OkStatus();
}

absl::Status PassWriter::WritePast(const JobPast& past) {
  absl::Status status;
  if (past.state.has_value()) status = past_.Run(past.job.value, static_cast<int>(*past.state));
  for (const JobDay& day : past.days) {
    if (!status.ok()) return status;
    const int64_t key = DayKey(day.day, past.job.value);
    JobDay before;
    {
      Rows rows = read_past_day_.Query(key);
      const absl::StatusOr<bool> any = rows.Next();
      if (!any.ok()) return any.status();
      // If the stored day is damaged, the new usage alone replaces it.
      if (*any &&
          !DecodeDayBlock(rows.Bytes(0), past.job, day.day, WindowId{INT32_MIN}, WindowId{INT32_MAX}, before)
               .ok()) {
        before = {};
      }
    }
    before.job = past.job;
    before.day = day.day;
    const std::string block = EncodeDayBlock(MergedDay(before, day));
    status = past_day_.Run(key, Blob{block});
  }
  return status;
}

absl::Status PassWriter::WriteDecisions(const PassRecord& pass) {
  const auto number = [](auto e) { return static_cast<int>(e); };
  for (const Decision& d : pass.decisions) {
    const absl::Status status = decision_.Run(
        d.id, d.job.value, d.target.code(), number(d.kind), number(d.mode), d.time_s, d.before, d.after,
        number(d.outcome), d.outcome_time_s, d.outcome_text, d.sentence, Blob{d.reason}, SumOf(d));
    if (!status.ok()) return status;
  }
  for (const OutcomeUpdate& o : pass.outcomes) {
    const absl::Status status = outcome_.Run(o.id, number(o.outcome), o.time_s, o.text);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status PassWriter::WriteRest(const PassRecord& pass) {
  for (const OomRecord& oom : pass.ooms) {
    const std::optional<int64_t> id =
        oom.id == 0 ? std::nullopt : std::optional(static_cast<int64_t>(oom.id));
    const absl::Status status = oom_.Run(id, oom.time_s, oom.job.value, oom.task, oom.kills, oom.limit,
                                         SumOf(oom), oom.shown_s, oom.since_s);
    if (!status.ok()) return status;
  }
  for (const TierAct& a : pass.tier_acts) {
    const absl::Status status =
        tier_act_.Run(a.time_s, a.at_us, a.machine, a.job, a.task, static_cast<int>(a.tier),
                      static_cast<int>(a.kind), static_cast<int>(a.observed), a.usage, a.request, a.high,
                      a.free, a.total, a.some, a.full, a.text, SumOf(a));
    if (!status.ok()) return status;
  }
  for (const SettingChange& s : pass.settings) {
    const absl::Status status =
        setting_.Run(s.id, s.time_s, s.who, s.job, s.key, s.value, s.before, SumOf(s));
    if (!status.ok()) return status;
  }
  for (const Checkpoint& c : pass.checkpoints) {
    const bool drop = c.bytes.empty() && c.chunk < kUnchangedChunk;
    const std::string bytes = drop ? std::string() : EncodeStoredCheckpoint(c);
    const absl::Status status = drop ? drop_checkpoint_.Run(c.chunk) : checkpoint_.Run(c.chunk, Blob{bytes});
    if (!status.ok()) return status;
  }
  if (pass.fleet == nullptr) return absl::OkStatus();
  const std::string point = EncodeFleetPoint(*pass.fleet);
  return fleet_.Run(pass.fleet->window.index, Blob{point});
}

}  // namespace taut::server
