#include "server/pool/quota_service.h"

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

QuotaService::QuotaService(brain::QuotaRequests requests, GroupRules rules, Options options)
    : options_(std::move(options)),
      requests_(std::move(requests)),
      rules_(std::move(rules)),
      scheme_(std::make_shared<const GroupScheme>(requests_.spec(), rules_, options_.groups.group)) {}

absl::StatusOr<std::unique_ptr<QuotaService>> QuotaService::Open(brain::QuotaSpec spec, Options options) {
  absl::StatusOr<GroupRules> rules = GroupRules::Make(options.groups);
  if (!rules.ok()) return rules.status();
  absl::StatusOr<brain::QuotaRequests> requests =
      brain::QuotaRequests::Make(std::move(spec), options.requests);
  if (!requests.ok()) return requests.status();
  std::unique_ptr<QuotaService> service(
      new QuotaService(*std::move(requests), *std::move(rules), std::move(options)));
  if (absl::Status s = service->ReadLog(); !s.ok()) return s;
  return service;
}

absl::Status QuotaService::ReadLog() {
  const std::lock_guard lock(mutex_);
  return options_.log->Read(
      [this](const RequestLogEntry& entry) {
        absl::StatusOr<brain::QuotaRequest> request = DecodeRequest(entry.text);
        if (request.ok()) {
          requests_.Apply(*std::move(request));
        } else {
          warnings_.push_back(
              StrCat("log of requests: request ", entry.request, ": ", Message(request.status())));
        }
      },
      [this](const std::string& damage) { warnings_.push_back(damage); });
}

void QuotaService::OnWindow(const FleetView& view) {
  const std::lock_guard lock(mutex_);
  TakeUse(view);
}

void QuotaService::TakeUse(const FleetView& view) {
  if (!view.window.has_value()) return;
  const Timestamp end = Timestamp::FromSeconds(view.window->next().start_s());
  const int64_t from_s = end.seconds() - options_.gone_after_s;
  silent_ = counted_jobs_ > 0 && !AnySeen(view, from_s);
  if (silent_) return;
  const Timestamp settled_by = Timestamp::FromSeconds(end.seconds() + options_.gone_after_s);
  const bool gap = measured_at_.has_value() && measured_at_->seconds() < from_s;
  // A settled_at_ in the distant future was saved with a wrong clock.
  if (gap || (settled_at_.has_value() && *settled_at_ > settled_by)) settled_at_ = settled_by;
  measured_at_ = end;
  // Until settled_at_, jobs that were measured before the gap keep their last use.
  if (settled()) counted_from_s_ = from_s;
  Count(view);
}

bool QuotaService::settled() const { return !settled_at_.has_value() || *measured_at_ >= *settled_at_; }

void QuotaService::Count(const FleetView& view) {
  const std::vector<brain::JobUse> use = UseOf(view, rules_, counted_from_s_);
  counted_jobs_ = use.size();
  requests_.SetUse(use, *measured_at_,
                   settled() ? brain::QuotaRequests::Use::kWhole : brain::QuotaRequests::Use::kPartial);
  if (settled()) NoteHistory(use);
}

// Records the use of groups and tiers with quota. The history contains the maximum of each hour.
void QuotaService::NoteHistory(std::span<const brain::JobUse> use) {
  std::map<std::pair<std::string_view, std::string_view>, std::pair<int64_t, int64_t>> used;
  for (const brain::JobUse& job : use) {
    auto& [cpu, memory] = used[{job.group, job.tier}];
    cpu += job.used_cpu_millicores;
    memory += job.used_memory_bytes;
  }
  const int64_t time_s = measured_at_->seconds() - 1;
  for (const brain::QuotaRowView& row : brain::RowsOf(requests_.tree())) {
    if (row.cohort) continue;
    const auto found = used.find({row.group, row.tier});
    const auto [cpu, memory] = found == used.end() ? std::pair<int64_t, int64_t>() : found->second;
    std::optional<int64_t> usage;
    if (row.resource == brain::kQuotaCpu) usage = cpu;
    if (row.resource == brain::kQuotaMemory) usage = memory;
    history_.Note({row.group, row.tier, row.resource}, time_s, row.in_use(), usage);
  }
  history_.Forget(time_s);
}

absl::Status QuotaService::StepAt(Timestamp now, std::unique_lock<std::mutex>& lock) {
  if (!measured_at_.has_value()) return absl::OkStatus();
  absl::Status kept = Keep(requests_.Due(now), lock);
  // Due() skips the queue until more requests may fit. The changes that Due() returned were not stored, so the
  // next call must examine the queue again.
  if (!kept.ok()) requests_.LookAgain();
  return kept;
}

absl::Status QuotaService::Step() {
  if (!CheckTime().ok()) return absl::OkStatus();
  if (absl::Status s = options_.log->Check(); !s.ok())
    return absl::Status(s.code(), StrCat("the log of requests: ", Message(s)));
  const Timestamp now = options_.now();
  const std::lock_guard changes(changes_);
  std::unique_lock lock(mutex_);
  if (absl::Status s = StepAt(now, lock); !s.ok()) return s;
  return ForgetOld(now, lock);
}

absl::Status QuotaService::Reload(brain::QuotaSpec spec, const GroupRuleOptions& groups,
                                  const FleetView& view) {
  absl::StatusOr<GroupRules> rules = GroupRules::Make(groups);
  if (!rules.ok()) return rules.status();
  const std::lock_guard changes(changes_);
  const std::lock_guard lock(mutex_);
  if (absl::Status s = requests_.ChangeQuota(std::move(spec)); !s.ok()) return s;
  rules_ = *std::move(rules);
  live_.Regroup();
  scheme_ = std::make_shared<const GroupScheme>(requests_.spec(), rules_, groups.group);
  if (measured_at_.has_value()) Count(view);  // count the same jobs in the new groups
  return absl::OkStatus();
}

bool QuotaService::SilentAt(Timestamp now) const {
  return silent_ || (measured_at_.has_value() && counted_jobs_ > 0 &&
                     now.us - measured_at_->us > options_.gone_after_s * kMicrosPerSecond);
}

absl::Status QuotaService::CheckKnown() const {
  if (measured_at_.has_value()) return absl::OkStatus();
  return absl::UnavailableError(
      "no window has closed yet, so that it is not known what jobs use: ask again in 5 minutes");
}

absl::Status QuotaService::CheckTime() const {
  const std::string doubt = options_.doubt ? options_.doubt() : "";
  return doubt.empty() ? absl::OkStatus() : absl::UnavailableError(doubt);
}

absl::StatusOr<brain::AdmissionVerdict> QuotaService::Decide(brain::AdmissionRequest request,
                                                             std::string_view job) const {
  request.now = options_.now();
  const std::lock_guard lock(mutex_);
  if (absl::Status s = CheckKnown(); !s.ok()) return s;
  return requests_.Decide(request, job);
}

absl::StatusOr<brain::QuotaRequest> QuotaService::Submit(brain::AdmissionRequest request,
                                                         std::string_view job, std::string_view who) {
  request.now = options_.now();
  if (absl::Status s = CheckTime(); !s.ok()) return s;
  const std::lock_guard changes(changes_);
  std::unique_lock lock(mutex_);
  if (absl::Status s = CheckKnown(); !s.ok()) return s;
  // Decide waiting requests first.
  if (requests_.queued() > 0) {
    if (absl::Status s = StepAt(request.now, lock); !s.ok()) return s;
  }
  absl::StatusOr<brain::QuotaRequest> made = requests_.Submit(request, job, who);
  if (!made.ok()) return made;
  if (absl::Status s = Keep({&*made, 1}, lock); !s.ok()) return s;
  return made;
}

absl::StatusOr<brain::QuotaRequest> QuotaService::Withdraw(uint64_t id, std::string_view who) {
  const Timestamp now = options_.now();
  if (absl::Status s = CheckTime(); !s.ok()) return s;
  const std::lock_guard changes(changes_);
  std::unique_lock lock(mutex_);
  absl::StatusOr<brain::QuotaRequest> ended = requests_.Withdraw(id, who, now);
  if (!ended.ok()) return ended;
  if (absl::Status s = Keep({&*ended, 1}, lock); !s.ok()) return s;
  return ended;
}

absl::Status QuotaService::Keep(std::span<const brain::QuotaRequest> requests,
                                std::unique_lock<std::mutex>& lock) {
  if (requests.empty()) return absl::OkStatus();
  std::vector<RequestLogEntry> entries;
  entries.reserve(requests.size());
  // Admitted quota counts from the decision on, so that no other task is admitted into this quota while the log is
  // written.
  std::vector<uint64_t> opened;
  for (const brain::QuotaRequest& r : requests) {
    entries.push_back({r.id, r.since.seconds(), r.who, EncodeRequest(r)});
    if (!r.open() || requests_.usage().IsOpen(r.id)) continue;
    requests_.usage().Open(r);
    opened.push_back(r.id);
  }
  lock.unlock();
  absl::Status stored = options_.log->Append(entries);
  lock.lock();
  if (!stored.ok()) {
    for (const uint64_t id : opened) requests_.usage().Close(id);
    ++counts_.failed_writes;
    return absl::Status(stored.code(), StrCat("the log of requests: ", Message(stored)));
  }
  for (const brain::QuotaRequest& r : requests) {
    const brain::QuotaRequest* before = requests_.Find(r.id);
    if (r.state == brain::RequestState::kAdmitted) ++counts_.admitted;
    if (r.state == brain::RequestState::kQueued) ++counts_.queued;
    if (r.end == brain::RequestEnd::kRefused) ++counts_.refused;
    if (r.state == brain::RequestState::kEnded && before != nullptr) ++counts_.ended;
    requests_.Apply(r);
    if (options_.on_change) options_.on_change(r);
  }
  return absl::OkStatus();
}

absl::Status QuotaService::ForgetOld(Timestamp now, std::unique_lock<std::mutex>& lock) {
  if (now.us - forgot_at_.us < kForgetEverySeconds * kMicrosPerSecond) return absl::OkStatus();
  const Timestamp before{now.us - options_.keep_ended_days * kDaySeconds * kMicrosPerSecond};
  const std::vector<uint64_t> old = requests_.OldEnded(before, options_.max_ended);
  if (!old.empty()) {
    lock.unlock();
    absl::Status forgotten = options_.log->Forget(old);
    lock.lock();
    if (!forgotten.ok()) return forgotten;
    for (const uint64_t id : old) requests_.Forget(id);
  }
  forgot_at_ = now;
  return absl::OkStatus();
}

absl::StatusOr<brain::QuotaRequest> QuotaService::Find(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  if (const brain::QuotaRequest* request = requests_.Find(id); request != nullptr) return *request;
  return absl::NotFoundError(StrCat("no request ", id, "; the last one is ", requests_.last_id()));
}

std::vector<brain::QuotaRequest> QuotaService::List(absl::FunctionRef<bool(const brain::QuotaRequest&)> keep,
                                                    size_t limit) const {
  const std::lock_guard lock(mutex_);
  return requests_.List(keep, limit);
}

QuotaView QuotaService::View() const {
  const Timestamp now = options_.now();
  const std::lock_guard lock(mutex_);
  return ViewAt(now);
}

QuotaView QuotaService::ViewWithAdvice() const {
  const Timestamp now = options_.now();
  const std::lock_guard lock(mutex_);
  QuotaView view = ViewAt(now);
  for (brain::QuotaRowView& row : view.rows) row.advice = history_.AdviceFor(row);
  return view;
}

std::string QuotaService::SaveState() const {
  const std::lock_guard lock(mutex_);
  std::optional<QuotaGap> gap;
  if (settled_at_.has_value()) gap = {*settled_at_, counted_from_s_};
  return EncodeState(history_, gap);
}

QuotaService::Times QuotaService::times() const {
  const std::lock_guard lock(mutex_);
  return {settled_at_, measured_at_};
}

absl::Status QuotaService::LoadState(std::string_view text) {
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

QuotaView QuotaService::ViewAt(Timestamp now) const {
  QuotaView view;
  view.rows = brain::RowsOf(requests_.tree(), requests_.spec());
  view.uncovered.assign(requests_.usage().uncovered().begin(), requests_.usage().uncovered().end());
  view.warnings = requests_.tree().Overused();
  view.queued = requests_.queued();
  view.open = requests_.open();
  view.measured_at = measured_at_;
  view.silent = SilentAt(now);
  view.default_tier = rules_.default_tier();
  return view;
}

std::shared_ptr<const GroupScheme> QuotaService::scheme() const {
  const std::lock_guard lock(mutex_);
  return scheme_;
}

QuotaCounts QuotaService::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace taut::server
