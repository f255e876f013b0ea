// Quota of a running daemon: what jobs use of it, and the requests for more, which are stored before they count.
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
  std::vector<brain::QuotaFinding> warnings;  // groups that use more than they may
  uint64_t queued = 0, open = 0;
  std::optional<Timestamp> measured_at;  // the end of the window that the use is of
  bool silent = false;                   // no job was measured since: use stays as it was
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
    int64_t gone_after_s = 900;  // a job that was not measured for this long uses nothing
    // How long ended requests are kept, and how many at the most.
    int64_t keep_ended_days = 90;
    size_t max_ended = 100'000;
    RequestLog* log = nullptr;  // outlives the service
    std::function<Timestamp()> now;
    // Why the time may be wrong; "" while it is known. Until then no request is made or ends. Empty: it always is.
    std::function<std::string()> doubt = {};
    std::function<void(const brain::QuotaRequest&)>
        on_change;  // after it was stored; with the lock held: be quick
  };
  // Reads the log. InvalidArgument as QuotaRequests::Make and GroupRules::Make.
  static absl::StatusOr<std::unique_ptr<QuotaService>> Open(brain::QuotaSpec spec, Options options);
  const std::vector<std::string>& warnings() const { return warnings_; }  // of the log

  // What jobs use by a window that closed. If no job is measured where some were before, the source of usage
  // is silent: use stays. After such a time, or after the daemon was stopped, sources come back one after the
  // other: for gone_after_s the jobs that are still absent use what they used last, and no request ends for
  // their absence.
  void OnWindow(const FleetView& view);
  // What is due by the time. Unavailable: the log does not take it; the next call tries again.
  absl::Status Step();
  // Another quota and other rules, by which the jobs of `view` count at once. Errors as Open; nothing changes
  // then.
  absl::Status Reload(brain::QuotaSpec spec, const GroupRuleOptions& groups, const FleetView& view);

  // A dry run. Errors as QuotaRequests::Decide; Unavailable while no window has closed: use is not known.
  absl::StatusOr<brain::AdmissionVerdict> Decide(brain::AdmissionRequest request, std::string_view job) const;
  absl::StatusOr<brain::QuotaRequest> Submit(brain::AdmissionRequest request, std::string_view job,
                                             std::string_view who);
  absl::StatusOr<brain::QuotaRequest> Withdraw(uint64_t id, std::string_view who);
  // NotFound.
  absl::StatusOr<brain::QuotaRequest> Find(uint64_t id) const;
  std::vector<brain::QuotaRequest> List(absl::FunctionRef<bool(const brain::QuotaRequest&)> keep,
                                        size_t limit) const;
  QuotaView View() const;
  // The same with QuotaRowView::advice. O(rows * QuotaHistory::kHours).
  QuotaView ViewWithAdvice() const;
  // What was in use by the hour, for the advice, and which jobs count until sources are back, as text. LoadState,
  // before the first OnWindow: DataLoss, and nothing changes, for what no SaveState wrote.
  std::string SaveState() const;
  absl::Status LoadState(std::string_view text);
  struct Times {
    // Until then jobs that are absent count; changes when they begin to: then is a time to save.
    std::optional<Timestamp> settled_at;
    std::optional<Timestamp>
        measured_at;  // the end of the window that the use is of; nullopt: none has closed
  };
  Times times() const;
  QuotaCounts counts() const;
  // By what a request is decided, for those who count other use than that of windows: quota and rules, and the
  // open requests. The versions grow with each change of the former and of the latter.
  std::pair<brain::QuotaSpec, GroupRules> quota() const;
  std::vector<brain::QuotaRequest> OpenRequests() const;
  struct Versions {
    uint64_t quota = 0, requests = 0;
  };
  Versions versions() const { return {quota_version_, request_version_}; }  // takes no lock
  // Of now; another one after Reload. Never null.
  std::shared_ptr<const GroupScheme> scheme() const;

 private:
  QuotaService(brain::QuotaRequests requests, GroupRules rules, Options options);
  absl::Status ReadLog();
  // These REQUIRE mutex_.
  absl::Status CheckKnown() const;
  absl::Status CheckTime() const;  // Unavailable while the time may be wrong; does not require it
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
  std::shared_ptr<const GroupScheme> scheme_;  // of both
  std::optional<Timestamp> measured_at_;
  bool silent_ = false;                  // the newest window has no job
  size_t counted_jobs_ = 0;              // of measured_at_
  int64_t counted_from_s_ = 0;           // jobs that were measured since
  std::optional<Timestamp> settled_at_;  // until then jobs that are absent count
  Timestamp forgot_at_ = {};
  QuotaCounts counts_;
  brain::QuotaHistory history_;
  std::atomic<uint64_t> quota_version_ = 1, request_version_ = 1;
};

}  // namespace taut::server
