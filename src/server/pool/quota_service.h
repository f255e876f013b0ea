// Quota of a running daemon: use by jobs, and requests for quota. A request takes effect after it was stored.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/economy/quota_history.h"
#include "brain/economy/quota_requests.h"
#include "brain/economy/quota_rows.h"
#include "common/net/clocks.h"
#include "server/control/fleet_view.h"
#include "server/pool/group_rules.h"
#include "server/pool/group_scheme.h"
#include "server/pool/live_quota.h"
#include "server/store/request_log.h"

namespace taut::server {

struct QuotaView {
  std::vector<brain::QuotaRowView> rows;
  std::vector<brain::UncoveredUse> uncovered;
  std::vector<brain::QuotaFinding> warnings;  // groups whose use exceeds their quota
  uint64_t queued = 0, open = 0;
  std::optional<Timestamp> measured_at;  // end of the window from which the use was computed
  // true if no job was measured since measured_at, so that the use is unchanged
  bool silent = false;
  std::string default_tier;  // default tier of jobs (GroupRuleOptions::default_tier)
};

struct QuotaCounts {
  // numbers of events since the start
  uint64_t admitted = 0, queued = 0, refused = 0, ended = 0, failed_writes = 0;
};

// Maintains the use of quota and the requests. Thread-safe.
class QuotaService {
 public:
  struct Options {
    GroupRuleOptions groups;
    brain::QuotaRequestsOptions requests;
    int64_t gone_after_s = 900;  // time in seconds; a job that was not measured for this time has no use
    // Retention of ended requests in days, and maximum number of ended requests.
    int64_t keep_ended_days = 90;
    size_t max_ended = 100'000;
    RequestLog* log = nullptr;  // log of requests, which must outlive the service
    std::function<Timestamp()> now;
    // Returns the reason why the time may be wrong; "" if the time is reliable. While there is a reason, no
    // request is made or ends. If the function is empty, the time is always reliable.
    std::function<std::string()> doubt = {};
    // Called under the lock after a change was stored; must be short.
    std::function<void(const brain::QuotaRequest&)> on_change;
    // Clock that measures holds of quota for admitted tasks that are not reported yet.
    std::function<double()> steady_s = SteadySeconds;
    double hold_s = 30;
  };
  // Reads the log. Returns errors of QuotaRequests::Make(), GroupRules::Make() and the log.
  static absl::StatusOr<std::unique_ptr<QuotaService>> Open(brain::QuotaSpec spec, Options options);
  // warnings about the log of requests
  const std::vector<std::string>& warnings() const { return warnings_; }

  // Updates the use of jobs after a window has closed. If no job is measured although jobs were measured before,
  // the source of usage is silent, and the use does not change.
  //
  // After a silence, or a stop of the daemon, jobs are measured again one after the other. During gone_after_s,
  // absent jobs keep their last use, and no request ends because its job is absent.
  void OnWindow(const FleetView& view);
  // Runs periodic work: ends and admits requests. Returns Unavailable if the log failed; the next call retries.
  absl::Status Step();
  // Replaces quota and rules, and applies them to the jobs of `view` at once. Returns errors of Open(), and then
  // changes nothing.
  absl::Status Reload(brain::QuotaSpec spec, const GroupRuleOptions& groups, const FleetView& view);

  // Decides a request without storing it. Returns errors of QuotaRequests::Decide(), and Unavailable before the
  // first window, because the use is unknown.
  absl::StatusOr<brain::AdmissionVerdict> Decide(brain::AdmissionRequest request, std::string_view job) const;
  // Decides and stores a request. Returns errors of Decide(), and Unavailable from the log and while the time may
  // be wrong.
  absl::StatusOr<brain::QuotaRequest> Submit(brain::AdmissionRequest request, std::string_view job,
                                             std::string_view who);
  // Ends a request. Returns errors of QuotaRequests::Withdraw(), and Unavailable like Submit().
  absl::StatusOr<brain::QuotaRequest> Withdraw(uint64_t id, std::string_view who);
  // Returns the request with this ID; NotFound if there is none.
  absl::StatusOr<brain::QuotaRequest> Find(uint64_t id) const;
  // Returns up to `limit` requests for which `keep` returns true.
  std::vector<brain::QuotaRequest> List(absl::FunctionRef<bool(const brain::QuotaRequest&)> keep,
                                        size_t limit) const;
  QuotaView View() const;
  // Returns View() with QuotaRowView::advice. O(rows * QuotaHistory::kHours).
  QuotaView ViewWithAdvice() const;
  // Save and restore, as text, the hourly use for the advice and the jobs whose use is kept after a gap. Call
  // LoadState() before the first OnWindow(). LoadState() returns DataLoss, without a change, if SaveState() did
  // not write the text.
  std::string SaveState() const;
  absl::Status LoadState(std::string_view text);
  struct Times {
    // End of the time after a gap in which absent jobs keep their use. After a change, the state should be saved.
    std::optional<Timestamp> settled_at;
    // End of the window from which the use was computed; nullopt before the first window.
    std::optional<Timestamp> measured_at;
  };
  Times times() const;
  QuotaCounts counts() const;
  // Returns the object with the reported tasks of a source, which also decides on new tasks. The use of these
  // tasks counts in addition to jobs and requests.
  LiveQuota& live() { return live_; }
  // Returns the current scheme; Reload() replaces the scheme. Never null.
  std::shared_ptr<const GroupScheme> scheme() const;

 private:
  QuotaService(brain::QuotaRequests requests, GroupRules rules, Options options);
  absl::Status ReadLog();
  // The functions below REQUIRE mutex_, except where noted. Functions with a parameter `lock` also REQUIRE
  // changes_; `lock` holds mutex_ before and after the call.
  absl::Status CheckKnown() const;
  absl::Status CheckTime() const;  // returns Unavailable while the time may be wrong; needs no lock
  void TakeUse(const FleetView& view);
  bool settled() const;
  void Count(const FleetView& view);  // REQUIRES also: measured_at_ has a value
  void NoteHistory(std::span<const brain::JobUse> use);
  QuotaView ViewAt(Timestamp now) const;
  absl::Status StepAt(Timestamp now, std::unique_lock<std::mutex>& lock);
  bool SilentAt(Timestamp now) const;
  absl::Status Keep(std::span<const brain::QuotaRequest> requests, std::unique_lock<std::mutex>& lock);
  absl::Status ForgetOld(Timestamp now, std::unique_lock<std::mutex>& lock);

  const Options options_;
  std::vector<std::string> warnings_;

  // Held from the decision on a change of requests until the change is stored and applied. Locked before mutex_.
  std::mutex changes_;
  // Guards the members below. Not held while the log is written, so that decisions on tasks do not wait for the
  // log.
  mutable std::mutex mutex_;
  brain::QuotaRequests requests_;
  GroupRules rules_;
  LiveQuota live_{mutex_, requests_.usage(), rules_, options_.steady_s, options_.hold_s};
  std::shared_ptr<const GroupScheme> scheme_;  // scheme of requests_ and rules_
  std::optional<Timestamp> measured_at_;
  bool silent_ = false;      // true if the newest window has no job
  size_t counted_jobs_ = 0;  // number of jobs whose use was computed at measured_at_
  // Unix time since which a job must have been measured; other jobs keep their use.
  int64_t counted_from_s_ = 0;
  std::optional<Timestamp> settled_at_;  // end of the time in which absent jobs keep their use
  Timestamp forgot_at_ = {};
  QuotaCounts counts_;
  brain::QuotaHistory history_;
};

}  // namespace taut::server
