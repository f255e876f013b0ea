#include "server/pool/quota_desk.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/base/strings.h"
#include "server/pool/history_text.h"
#include "server/pool/request_text.h"

namespace taut::server {
namespace {

constexpr int64_t kForgetEverySeconds = 3600;

}  // namespace

QuotaDesk::QuotaDesk(brain::RequestBook book, GroupRules rules, Options options)
    : options_(std::move(options)),
      book_(std::move(book)),
      rules_(std::move(rules)),
      scheme_(std::make_shared<const GroupScheme>(book_.spec(), rules_, options_.groups.group)) {}

absl::StatusOr<std::unique_ptr<QuotaDesk>> QuotaDesk::Open(brain::QuotaSpec spec, Options options) {
  absl::StatusOr<GroupRules> rules = GroupRules::Make(options.groups);
  if (!rules.ok()) return rules.status();
  absl::StatusOr<brain::RequestBook> book = brain::RequestBook::Make(std::move(spec), options.book);
  if (!book.ok()) return book.status();
  std::unique_ptr<QuotaDesk> desk(new QuotaDesk(*std::move(book), *std::move(rules), std::move(options)));
  if (absl::Status s = desk->ReadLog(); !s.ok()) return s;
  return desk;
}

absl::Status QuotaDesk::ReadLog() {
  const std::lock_guard lock(mutex_);
  return options_.log->Read(
      [this](const RequestLogEntry& entry) {
        absl::StatusOr<brain::QuotaRequest> request = DecodeRequest(entry.text);
        if (request.ok()) {
          book_.Apply(*std::move(request));
        } else {
          warnings_.push_back(
              StrCat("log of requests: request ", entry.request, ": ", Message(request.status())));
        }
      },
      [this](const std::string& damage) { warnings_.push_back(damage); });
}

void QuotaDesk::OnWindow(const FleetView& view) {
  const std::lock_guard lock(mutex_);
  TakeUse(view);
}

void QuotaDesk::TakeUse(const FleetView& view) {
  if (!view.window.has_value()) return;
  const Timestamp end = Timestamp::FromSeconds(view.window->next().start_s());
  const int64_t from_s = end.seconds() - options_.gone_after_s;
  silent_ = counted_jobs_ > 0 && !AnySeen(view, from_s);
  if (silent_) return;
  const Timestamp settled_by = Timestamp::FromSeconds(end.seconds() + options_.gone_after_s);
  const bool gap = measured_at_.has_value() && measured_at_->seconds() < from_s;
  // Later than that is of a state that a wrong clock made.
  if (gap || (settled_at_.has_value() && *settled_at_ > settled_by)) settled_at_ = settled_by;
  measured_at_ = end;
  // Until it is settled the jobs that were counted before the gap still are, with what they used last.
  if (settled()) counted_from_s_ = from_s;
  Count(view);
}

bool QuotaDesk::settled() const { return !settled_at_.has_value() || *measured_at_ >= *settled_at_; }

void QuotaDesk::Count(const FleetView& view) {
  const std::vector<brain::JobUse> use = UseOf(view, rules_, counted_from_s_);
  counted_jobs_ = use.size();
  book_.SetUse(use, *measured_at_,
               settled() ? brain::RequestBook::Use::kWhole : brain::RequestBook::Use::kPartial);
  if (settled()) NoteHistory(use);
}

// Of the places that have quota: the highest of the hour that the window is in.
void QuotaDesk::NoteHistory(std::span<const brain::JobUse> use) {
  std::map<std::pair<std::string_view, std::string_view>, std::pair<int64_t, int64_t>> used;
  for (const brain::JobUse& job : use) {
    auto& [cpu, memory] = used[{job.group, job.tier}];
    cpu += job.used_cpu_millicores;
    memory += job.used_memory_bytes;
  }
  const int64_t time_s = measured_at_->seconds() - 1;
  for (const brain::QuotaRowView& row : brain::RowsOf(book_.tree())) {
    if (row.cohort) continue;
    const auto found = used.find({row.group, row.tier});
    const auto [cpu, memory] = found == used.end() ? std::pair<int64_t, int64_t>() : found->second;
    std::optional<int64_t> usage;
    if (row.resource == brain::kQuotaCpu) usage = cpu;
    if (row.resource == brain::kQuotaMemory) usage = memory;
    history_.Note({row.group, row.tier, row.resource}, time_s, row.cell.held, usage);
  }
  history_.Forget(time_s);
}

absl::Status QuotaDesk::StepAt(Timestamp now) {
  if (!measured_at_.has_value()) return absl::OkStatus();
  absl::Status kept = Keep(book_.Due(now));
  if (!kept.ok()) book_.LookAgain();
  return kept;
}

absl::Status QuotaDesk::Step() {
  if (!CheckTime().ok()) return absl::OkStatus();
  if (absl::Status s = options_.log->Check(); !s.ok())
    return absl::Status(s.code(), StrCat("the log of requests: ", Message(s)));
  const Timestamp now = options_.now();
  const std::lock_guard lock(mutex_);
  if (absl::Status s = StepAt(now); !s.ok()) return s;
  return ForgetOld(now);
}

absl::Status QuotaDesk::Reload(brain::QuotaSpec spec, const GroupRuleOptions& groups, const FleetView& view) {
  absl::StatusOr<GroupRules> rules = GroupRules::Make(groups);
  if (!rules.ok()) return rules.status();
  const std::lock_guard lock(mutex_);
  if (absl::Status s = book_.ChangeQuota(std::move(spec)); !s.ok()) return s;
  rules_ = *std::move(rules);
  scheme_ = std::make_shared<const GroupScheme>(book_.spec(), rules_, groups.group);
  ++quota_version_;
  if (measured_at_.has_value()) Count(view);  // the same jobs, of other groups
  return absl::OkStatus();
}

bool QuotaDesk::SilentAt(Timestamp now) const {
  return silent_ || (measured_at_.has_value() && counted_jobs_ > 0 &&
                     now.us - measured_at_->us > options_.gone_after_s * kMicrosPerSecond);
}

absl::Status QuotaDesk::CheckKnown() const {
  if (measured_at_.has_value()) return absl::OkStatus();
  return absl::UnavailableError(
      "no window has closed yet, so that it is not known what jobs use: ask again in 5 minutes");
}

absl::Status QuotaDesk::CheckTime() const {
  const std::string doubt = options_.doubt ? options_.doubt() : "";
  return doubt.empty() ? absl::OkStatus() : absl::UnavailableError(doubt);
}

absl::StatusOr<brain::AdmissionVerdict> QuotaDesk::Decide(brain::AdmissionRequest request,
                                                          std::string_view job) const {
  request.now = options_.now();
  const std::lock_guard lock(mutex_);
  if (absl::Status s = CheckKnown(); !s.ok()) return s;
  return book_.Decide(request, job);
}

absl::StatusOr<brain::QuotaRequest> QuotaDesk::Submit(brain::AdmissionRequest request, std::string_view job,
                                                      std::string_view who) {
  request.now = options_.now();
  if (absl::Status s = CheckTime(); !s.ok()) return s;
  const std::lock_guard lock(mutex_);
  if (absl::Status s = CheckKnown(); !s.ok()) return s;
  // What waits already comes first.
  if (book_.queued() > 0) {
    if (absl::Status s = StepAt(request.now); !s.ok()) return s;
  }
  absl::StatusOr<brain::QuotaRequest> made = book_.Submit(request, job, who);
  if (!made.ok()) return made;
  if (absl::Status s = Keep({&*made, 1}); !s.ok()) return s;
  return made;
}

absl::StatusOr<brain::QuotaRequest> QuotaDesk::Withdraw(uint64_t id, std::string_view who) {
  const Timestamp now = options_.now();
  if (absl::Status s = CheckTime(); !s.ok()) return s;
  const std::lock_guard lock(mutex_);
  absl::StatusOr<brain::QuotaRequest> ended = book_.Withdraw(id, who, now);
  if (!ended.ok()) return ended;
  if (absl::Status s = Keep({&*ended, 1}); !s.ok()) return s;
  return ended;
}

absl::Status QuotaDesk::Keep(std::span<const brain::QuotaRequest> requests) {
  if (requests.empty()) return absl::OkStatus();
  std::vector<RequestLogEntry> entries;
  entries.reserve(requests.size());
  for (const brain::QuotaRequest& r : requests)
    entries.push_back({r.id, r.since.seconds(), r.who, EncodeRequest(r)});
  if (absl::Status s = options_.log->Append(entries); !s.ok()) {
    ++counts_.failed_writes;
    return absl::Status(s.code(), StrCat("the log of requests: ", Message(s)));
  }
  for (const brain::QuotaRequest& r : requests) {
    const brain::QuotaRequest* before = book_.Find(r.id);
    if (r.state == brain::RequestState::kAdmitted) ++counts_.admitted;
    if (r.state == brain::RequestState::kQueued) ++counts_.queued;
    if (r.end == brain::RequestEnd::kRefused) ++counts_.refused;
    if (r.state == brain::RequestState::kEnded && before != nullptr) ++counts_.ended;
    book_.Apply(r);
    if (options_.on_change) options_.on_change(r);
  }
  ++request_version_;
  return absl::OkStatus();
}

absl::Status QuotaDesk::ForgetOld(Timestamp now) {
  if (now.us - forgot_at_.us < kForgetEverySeconds * kMicrosPerSecond) return absl::OkStatus();
  const Timestamp before{now.us - options_.keep_ended_days * kDaySeconds * kMicrosPerSecond};
  const std::vector<uint64_t> old = book_.OldEnded(before, options_.max_ended);
  if (!old.empty()) {
    if (absl::Status s = options_.log->Forget(old); !s.ok()) return s;
    for (const uint64_t id : old) book_.Forget(id);
  }
  forgot_at_ = now;
  return absl::OkStatus();
}

absl::StatusOr<brain::QuotaRequest> QuotaDesk::Find(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  if (const brain::QuotaRequest* request = book_.Find(id); request != nullptr) return *request;
  return absl::NotFoundError(StrCat("no request ", id, "; the last one is ", book_.last_id()));
}

std::vector<brain::QuotaRequest> QuotaDesk::List(absl::FunctionRef<bool(const brain::QuotaRequest&)> keep,
                                                 size_t limit) const {
  const std::lock_guard lock(mutex_);
  return book_.List(keep, limit);
}

QuotaView QuotaDesk::View() const {
  const Timestamp now = options_.now();
  const std::lock_guard lock(mutex_);
  return ViewAt(now);
}

QuotaView QuotaDesk::ViewWithAdvice() const {
  const Timestamp now = options_.now();
  const std::lock_guard lock(mutex_);
  QuotaView view = ViewAt(now);
  for (brain::QuotaRowView& row : view.rows) row.advice = history_.AdviceFor(row);
  return view;
}

std::string QuotaDesk::SaveState() const {
  const std::lock_guard lock(mutex_);
  std::optional<QuotaGap> gap;
  if (settled_at_.has_value()) gap = {*settled_at_, counted_from_s_};
  return EncodeState(history_, gap);
}

QuotaDesk::Times QuotaDesk::times() const {
  const std::lock_guard lock(mutex_);
  return {settled_at_, measured_at_};
}

absl::Status QuotaDesk::LoadState(std::string_view text) {
  absl::StatusOr<QuotaState> state = DecodeState(text);
  if (!state.ok()) return state.status();
  const std::lock_guard lock(mutex_);
  history_ = std::move(state->history);
  if (state->gap.has_value()) {
    settled_at_ = state->gap->settled_at;
    counted_from_s_ = state->gap->counted_from_s;
  }
  return absl::OkStatus();
}

QuotaView QuotaDesk::ViewAt(Timestamp now) const {
  QuotaView view;
  view.rows = brain::RowsOf(book_.tree());
  view.uncovered.assign(book_.uncovered().begin(), book_.uncovered().end());
  view.warnings = book_.tree().Overused();
  view.queued = book_.queued();
  view.open = book_.open();
  view.measured_at = measured_at_;
  view.silent = SilentAt(now);
  view.default_tier = rules_.default_tier();
  return view;
}

std::pair<brain::QuotaSpec, GroupRules> QuotaDesk::quota() const {
  const std::lock_guard lock(mutex_);
  return {book_.spec(), rules_};
}

std::vector<brain::QuotaRequest> QuotaDesk::OpenRequests() const {
  const std::lock_guard lock(mutex_);
  return book_.List([](const brain::QuotaRequest& request) { return request.open(); }, book_.open());
}

std::shared_ptr<const GroupScheme> QuotaDesk::scheme() const {
  const std::lock_guard lock(mutex_);
  return scheme_;
}

QuotaCounts QuotaDesk::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace taut::server
