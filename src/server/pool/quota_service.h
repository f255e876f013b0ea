// Quota of a running daemon: use by jobs, and requests for more, which are stored before they count.
#pragma once

#include <atomic>
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
#include "server/control/fleet_view.h"
#include "server/pool/group_rules.h"
#include "server/pool/group_scheme.h"
#include "server/store/request_log.h"

namespace taut::server {

struct QuotaView {
  std::vector<brain::QuotaRowView> rows;
  std::vector<brain::UncoveredUse> uncovered;
  std::vector<brain::QuotaFinding> warnings;  // groups above their quota
  uint64_t queued = 0, open = 0;
  std::optional<Timestamp> measured_at;  // end of the window whose use is shown
  bool silent = false;                   // no job was measured since, so the use is unchanged
  std::string default_tier;              // of GroupRuleOptions
};

struct QuotaCounts {
  uint64_t admitted = 0, queued = 0, refused = 0, ended = 0, failed_writes = 0;  // since the start
};

// Thread-safe.
class QuotaService {
 public:
  struct Options {
    GroupRuleOptions groups;
    brain::QuotaRequestsOptions requests;
    int64_t gone_after_s = 900;  // a job that is not measured for this time uses nothing
    // Retention of ended requests, and their maximum number.
    int64_t keep_ended_days = 90;
    size_t max_ended = 100'000;
    RequestLog* log = nullptr;  // outlives the service
    std::function<Timestamp()> now;
    // Returns why the time may be wrong; "" if it is known. While it may be wrong, no request is made or
    // ends. Empty: always known.
    std::function<std::string()> doubt = {};
    // Called once a change is stored, under the lock; must be short.
    std::function<void(const brain::QuotaRequest&)> on_change;
  };
  // Reads the log. InvalidArgument as QuotaRequests::Make and GroupRules::Make; errors of the log.
  static absl::StatusOr<std::unique_ptr<QuotaService>> Open(brain::QuotaSpec spec, Options options);
  const std::vector<std::string>& warnings() const { return warnings_; }  // about the log

  // Updates the use of jobs after a window closed. If no job is measured although some were before, the
  // source of usage is silent, and use is unchanged.
  // After such a time, or a stop of the daemon, jobs are measured again one after the other. For
  // gone_after_s, jobs that are still absent keep their last use, and no request ends because of their
  // absence.
  void OnWindow(const FleetView& view);
  // Does periodic work: ends and admits requests. Unavailable: the log failed; the next call retries.
  absl::Status Step();
  // Replaces quota and rules, which apply to the jobs of `view` at once. Errors as Open; nothing changes
  // then.
  absl::Status Reload(brain::QuotaSpec spec, const GroupRuleOptions& groups, const FleetView& view);

  // Decides without storing. Errors as QuotaRequests::Decide; Unavailable before the first window, when use
  // is unknown.
  absl::StatusOr<brain::AdmissionVerdict> Decide(brain::AdmissionRequest request, std::string_view job) const;
  // Decides and stores a request. Errors as Decide, and Unavailable from the log or while the time may be
  // wrong.
  absl::StatusOr<brain::QuotaRequest> Submit(brain::AdmissionRequest request, std::string_view job,
                                             std::string_view who);
  // Ends a request. Errors as QuotaRequests::Withdraw, and Unavailable as Submit.
  absl::StatusOr<brain::QuotaRequest> Withdraw(uint64_t id, std::string_view who);
  // Returns a request; NotFound.
  absl::StatusOr<brain::QuotaRequest> Find(uint64_t id) const;
  // Returns up to `limit` requests that `keep` accepts.
  std::vector<brain::QuotaRequest> List(absl::FunctionRef<bool(const brain::QuotaRequest&)> keep,
                                        size_t limit) const;
  QuotaView View() const;
  // Same with QuotaRowView::advice. O(rows * QuotaHistory::kHours).
  QuotaView ViewWithAdvice() const;
  // Return and restore the hourly use, for the advice, and which jobs count until all are measured again, as
  // text. LoadState is called before the first OnWindow; DataLoss, without a change, for a text that
  // SaveState did not write.
  std::string SaveState() const;
  absl::Status LoadState(std::string_view text);
  struct Times {
    // Absent jobs count until this time. It changes when such a time begins; the state should be saved then.
    std::optional<Timestamp> settled_at;
    // End of the window whose use counts; nullopt: none has closed.
    std::optional<Timestamp> measured_at;
  };
  Times times() const;
  QuotaCounts counts() const;
  // Inputs of decisions, for callers that count use by other means than windows: quota and rules, and open
  // requests. Each version grows with every change of its part.
  std::pair<brain::QuotaSpec, GroupRules> quota() const;
  std::vector<brain::QuotaRequest> OpenRequests() const;
  struct Versions {
    uint64_t quota = 0, requests = 0;
  };
  Versions versions() const { return {quota_version_, request_version_}; }  // takes no lock
  // Returns the present scheme; Reload replaces it. Never null.
  std::shared_ptr<const GroupScheme> scheme() const;

 private:
  QuotaService(brain::QuotaRequests requests, GroupRules rules, Options options);
  absl::Status ReadLog();
  // These REQUIRE mutex_.
  absl::Status CheckKnown() const;
  absl::Status CheckTime() const;  // Unavailable while the time may be wrong; does not require mutex_
  void TakeUse(const FleetView& view);
  bool settled() const;
  void Count(const FleetView& view);  // also REQUIRES measured_at_
  void NoteHistory(std::span<const brain::JobUse> use);
  QuotaView ViewAt(Timestamp now) const;
  absl::Status StepAt(Timestamp now);
  bool SilentAt(Timestamp now) const;
  absl::Status Keep(std::span<const brain::QuotaRequest> requests);
  absl::Status ForgetOld(Timestamp now);

  const Options options_;
  std::vector<std::string> warnings_;

  mutable std::mutex mutex_;
  brain::QuotaRequests requests_;
  GroupRules rules_;
  std::shared_ptr<const GroupScheme> scheme_;  // of requests_ and rules_
  std::optional<Timestamp> measured_at_;
  bool silent_ = false;                  // the newest window has no job
  size_t counted_jobs_ = 0;              // jobs counted at measured_at_
  int64_t counted_from_s_ = 0;           // jobs measured since then count
  std::optional<Timestamp> settled_at_;  // absent jobs count until then
  Timestamp forgot_at_ = {};
  QuotaCounts counts_;
  brain::QuotaHistory history_;
  std::atomic<uint64_t> quota_version_ = 1, request_version_ = 1;
};

}  // namespace taut::server
