#include "server/control/control_metrics.h"

#include <optional>
#include <string_view>
#include <vector>

#include "brain/rollout/gate.h"

namespace taut::server {
namespace {

constexpr int64_t kFarBeyondSeconds = 3600;  // value of ClockGuard::Options::soon_s

void PutTierActs(const ControlPlane& control, MetricsText& out) {
  const ControlCounts counts = control.status().counts();
  for (size_t tier = 0; tier < kTiers; ++tier) {
    for (size_t kind = 0; kind < kTierActKinds; ++kind) {
      out.Counter("tautd_tier_acts_total",
                  "Acts of agents' guards of memory that were stored; without those of agents that observe.",
                  counts.tier_acts[tier][kind],
                  {{"tier", Name(static_cast<Tier>(tier))}, {"kind", Name(static_cast<TierActKind>(kind))}});
    }
  }
}

void PutPromises(const FleetView& view, MetricsText& out) {
  const auto put = [&](const char* name, const char* help, auto value_of) {
    for (const auto& [key, row] : view.risks.rows()) {
      const std::optional<double> value = value_of(key, row.recent);
      if (!value.has_value()) continue;
      out.Gauge(name, help, *value,
                {{"resource", Name(key.resource)},
                 {"limits", key.limits_name()},
                 {"promise", key.promise_name()},
                 {"class", key.class_name()},
                 {"size", key.size_name()}});
    }
  };
  put("tautd_promise_jobdays",
      "Job-days with a recommended limit (set or shown), weighed by age (half-life 30 days).",
      [](const brain::RiskKey&, const brain::RiskSums& sums) { return std::optional(sums.days); });
  put("tautd_promised_overrun_share",
      "Promised share of job-days (promise chance) or of work above the limits, of recent job-days.",
      brain::PromisedShare);
  put("tautd_delivered_overrun_share", "Delivered share of job-days or of work.", brain::DeliveredShare);
  out.Gauge("tautd_broken_promises", "Promises exceeded by more than a fifth, beyond the sampling error.",
            static_cast<double>(brain::BrokenPromises(view.risks).size()));
}

void PutTrust(const ControlPlane& control, MetricsText& out) {
  const ClockView clock = control.status().clock();
  out.Gauge("tautd_clock_wrong", "1 while tautd does not follow this machine's clock.",
            clock.sentence.empty() ? 0 : 1);
  out.Gauge("tautd_clock_ahead_seconds", "This machine's clock minus the time that tautd uses.",
            clock.sentence.empty() ? 0 : clock.wall_ahead_s);
  out.Gauge("tautd_clock_unconfirmed",
            "1 while windows and ends wait for the clock of the start to be confirmed.", clock.waits ? 1 : 0);
  out.Counter("tautd_clock_jumps_total", "Jumps of this machine's clock.", clock.jumps);
  const auto seconds = [&out](std::string_view name, std::string_view help, std::optional<double> lag) {
    if (lag.has_value()) out.Gauge(name, help, *lag);
  };
  const IngestLag lag = control.ingest().time.lag();
  seconds("tautd_ingest_lag_seconds", "From the newest sample's own time to its arrival by remote write.",
          lag.arrival_s);
  seconds("tautd_newest_sample_age_seconds", "Since the newest sample's own time, agents' windows too.",
          lag.newest_sample_s);
  seconds("tautd_last_window_age_seconds", "Since the end of the window closed last.", lag.window_s);
  out.Gauge("tautd_waiting_samples", "Samples that wait for their windows to close.",
            static_cast<double>(control.ingest().counts.waiting_samples()));
  out.Counter("tautd_writes_deferred_total",
              "Requests answered 503: too many waiting samples, or the store fails.",
              control.ingest().counts.deferred_writes());
  out.Gauge("tautd_samples_kept", "1 if samples of open windows are on disk, or the store is in memory.",
            control.ingest().log.status().ok() ? 1 : 0);
  out.Gauge("tautd_unwritten_sample_bytes", "Bytes acknowledged since the last tick and not on disk yet.",
            static_cast<double>(control.ingest().log.unwritten_bytes()));
  out.Counter("tautd_partial_windows_total",
              "Windows ignored by recommenders because samples of them were lost.",
              control.ingest().counts.folds().partial_windows);
}

void PutIngest(const ControlPlane& control, MetricsText& out) {
  for (const NamedCount& c : SamplesByOutcome(control.ingest().counts.samples())) {
    out.Counter("tautd_samples_total", "Samples received, by outcome.", c.count, {{"outcome", c.name}});
  }
  const MapperCounts mapper = control.ingest().counts.mapper();
  out.Gauge("tautd_series", "Live series that a mapping rule matches.",
            static_cast<double>(mapper.mapped_series));
  out.Gauge("tautd_unmapped_series", "Live series that no mapping rule matches.",
            static_cast<double>(mapper.unmapped_series));
  out.Gauge("tautd_pods_without_containers", "Pods with series of the whole pod only.",
            static_cast<double>(mapper.pods_without_containers));
  out.Gauge("tautd_known_jobs", "Known jobs: with tasks, or without but not yet forgotten.",
            static_cast<double>(mapper.jobs));
  out.Counter("tautd_jobs_refused_total", "Series refused because their job exceeds ingest.max_jobs.",
              mapper.refused_jobs);
  out.Gauge("tautd_job_name_collisions", "Jobs whose series come from two sources: perhaps two workloads.",
            static_cast<double>(mapper.name_collisions));
  out.Counter("tautd_series_claimed_total",
              "Series of containers that an agent measures; ignored beside its windows.",
              mapper.claimed_series);
}

void PutPasses(const ControlPlane& control, MetricsText& out) {
  out.Counter("tautd_jobs_forgotten_total",
              "Jobs forgotten because they had no tasks for store.forget_jobs_after.",
              control.status().counts().forgotten_jobs);
  const FoldCounts folds = control.ingest().counts.folds();
  out.Counter("tautd_windows_closed_total", "Windows closed.", folds.windows);
  out.Counter("tautd_job_windows_total", "Windows closed, per job.", folds.job_windows);
  const ControlCounts counts = control.status().counts();
  out.Counter("tautd_passes_total", "Passes over a closed window.", counts.passes);
  out.Counter("tautd_replica_step_backs_total",
              "Times that tautd ordered no number of tasks for an hour, as another program set it.",
              counts.replica_step_backs);
  for (size_t k = 0; k < counts.decisions_by_kind.size(); ++k) {
    out.Counter("tautd_decisions_total", "Decisions stored.", counts.decisions_by_kind[k],
                {{"kind", Name(static_cast<DecisionKind>(k))}});
  }
  out.Counter("tautd_oom_kills_total", "OOM kills received.", counts.ooms);
  out.Counter("tautd_store_commits_total", "Committed transactions.", counts.commits);
  out.Counter("tautd_store_failed_commits_total", "Transactions that failed.", counts.failed_commits);
  const PassTimes pass = control.status().last_pass();
  for (const auto& [step, ms] : pass.steps_ms) {
    out.Gauge("tautd_last_pass_seconds", "Duration of the steps of the last pass.", ms / 1000,
              {{"step", step}});
  }
}

void PutJobs(const FleetView& view, MetricsText& out) {
  if (view.window.has_value()) {
    out.Gauge("tautd_last_window_end_timestamp_seconds", "End of the window closed last.",
              static_cast<double>(view.window->next().start_s()));
  }
  out.Gauge("tautd_tasks", "Tasks measured in the last window.", view.point.tasks);
  for (size_t m = 0; m < kNumModes; ++m) {
    out.Gauge("tautd_jobs", "Jobs measured in the last window, by mode.", view.point.jobs_by_mode[m],
              {{"mode", Name(static_cast<Mode>(m))}});
  }
}

void PutReplicas(const FleetView& view, MetricsText& out) {
  const ReplicaSums& replicas = view.replicas;
  out.Gauge("tautd_replica_jobs", "Jobs with a recommended number of tasks, measured in the last window.",
            replicas.jobs);
  out.Gauge("tautd_replica_tasks", "Tasks of these jobs, as they run and as recommended.",
            static_cast<double>(replicas.tasks), {{"which", "running"}});
  out.Gauge("tautd_replica_tasks", "Tasks of these jobs, as they run and as recommended.",
            static_cast<double>(replicas.would_be), {{"which", "would_be"}});
  out.Gauge("tautd_replica_jobs_overloaded",
            "Jobs with a replica policy that were overloaded in the last window.", replicas.jobs_overloaded);
  for (const auto& [which, windows] : {std::pair<std::string_view, uint64_t>{"measured", replicas.windows},
                                       {"overloaded", replicas.overloaded_windows}}) {
    out.Gauge(
        "tautd_replica_windows_day",
        "Windows of five minutes of these jobs' last day: with a measured load, and of these overloaded.",
        static_cast<double>(windows), {{"which", which}});
  }
  for (const brain::HoldCause cause : brain::kHoldCauses) {
    out.Gauge("tautd_replica_jobs_held", "Jobs whose number of tasks cannot be decided just now, by cause.",
              replicas.held[static_cast<size_t>(cause)], {{"cause", Name(cause)}});
  }
}

void PutAmounts(const FleetView& view, MetricsText& out) {
  const auto amounts = [&](std::string_view name, std::string_view help, double FleetAmounts::*field) {
    for (const Resource r : kResources) {
      const std::optional<double> amount = AmountOf(view.point.amounts[IndexOf(r)], field);
      if (amount.has_value()) out.Gauge(name, help, *amount, {{"resource", Name(r)}});
    }
  };
  amounts("tautd_fleet_usage", "Usage of all tasks, cores or bytes.", &FleetAmounts::usage);
  amounts("tautd_fleet_owner_limit", "Owners' limits of all tasks, cores or bytes.",
          &FleetAmounts::owner_limit);
  amounts("tautd_fleet_limit", "Limits in force of all tasks, would-be limits in a dry run; cores or bytes.",
          &FleetAmounts::in_force);
  amounts("tautd_fleet_would_be_limit", "Limits if every job were in mode auto, cores or bytes.",
          &FleetAmounts::would_be);
}

void PutLimitsInForce(const FleetView& view, MetricsText& out) {
  uint64_t unlike = 0;
  double throttled = 0, counted = 0;
  for (const JobView& job : view.jobs) {
    for (const Resource r : kResources) {
      const JobAmounts& a = job.of(r);
      unlike += a.ordered >= 0 && a.applied >= 0 && !brain::IsAtLimit(r, a.applied, a.ordered) ? 1 : 0;
    }
    if (job.throttled < 0) continue;
    throttled += job.throttled;
    ++counted;
  }
  out.Gauge("tautd_jobs_not_as_ordered", "Limits that agents report differently from the order.",
            static_cast<double>(unlike));
  if (counted > 0) {
    out.Gauge("tautd_throttled_share", "Throttled share of CFS periods over about a day, mean over jobs.",
              throttled / counted);
  }
}

}  // namespace

std::vector<NamedCount> SamplesByOutcome(const IngestCounts& c) {
  return {{"accepted", c.accepted},
          {"out_of_order", c.out_of_order},
          {"stale_markers", c.stale_markers},
          {"duplicates", c.duplicates},
          {"conflicts", c.conflicts},
          {"nan", c.nan},
          {"invalid", c.invalid},
          {"far_future", c.far_future},
          {"too_late", c.too_late},
          {"over_capacity", c.over_capacity},
          {"unmapped", c.unmapped},
          {"facts", c.facts},
          {"refused", c.refused},
          {"histograms", c.histograms}};
}

void ControlMetrics::Collect(MetricsText& out) const {
  const ControlPlane& control = *context_.control;
  PutIngest(control, out);
  PutPasses(control, out);
  PutTierActs(control, out);
  PutTrust(control, out);
  out.Gauge("tautd_ready", "1 if samples are accepted and windows stored.",
            control.status().ready().ok() ? 1 : 0);
  const std::shared_ptr<const FleetView> view = control.view();
  PutPromises(*view, out);
  PutJobs(*view, out);
  PutReplicas(*view, out);
  PutAmounts(*view, out);
  PutLimitsInForce(*view, out);
}

// With `clock: samples`, there is no other clock to compare with. A wrong clock of a sender is then visible only
// as a jump from the stored time to the first sample, which is logged.
void ControlMetrics::SayOfFirstSample() {
  const LiveIngest& ingest = context_.control->ingest();
  const std::optional<Timestamp> stored = ingest.time.before();
  if (first_sample_seen_ || context_.clock == ClockSource::kWall || !stored.has_value()) return;
  const int64_t ahead_s = (ingest.time.now().us - stored->us) / kMicrosPerSecond;
  if (ahead_s <= 0) return;
  first_sample_seen_ = true;
  if (ahead_s <= kFarBeyondSeconds) return;
  context_.log->Warn(
      StrCat("the first sample is ", ahead_s / 3600,
             " hours beyond the stored data, and sets the time (clock: samples): windows, budget "
             "periods and requests end by it. If its sender's clock is wrong, stop tautd and "
             "restore a backup"));
}

void ControlMetrics::AfterPass(bool /*stored*/) {
  SayOfFirstSample();
  const absl::Status kept = context_.control->ingest().log.status();
  const std::string now(Message(kept));
  if (now == samples_said_) return;
  if (kept.ok()) {
    context_.log->Info("samples of open windows are kept on disk again");
  } else {
    context_.log->Error(
        StrCat("samples of open windows cannot be written to disk and would be lost by a crash: ", now));
  }
  samples_said_ = now;
}

void ControlMetrics::Tick(const LoopTurn& /*turn*/) {
  const MapperCounts counts = context_.control->ingest().counts.mapper();
  if (!refusal_said_ && counts.refused_jobs > 0) {
    refusal_said_ = true;
    context_.log->Warn(StrCat(counts.jobs, " jobs are known and ingest.max_jobs is ", max_jobs_,
                              ": series of further jobs are refused"));
  }
  if (!collisions_said_ && counts.name_collisions > 0) {
    collisions_said_ = true;
    context_.log->Warn(
        StrCat("the series of ", counts.name_collisions,
               " jobs come from two sources, perhaps two workloads of one name: see the notices "
               "of these jobs and tautd_job_name_collisions"));
  }
}

}  // namespace taut::server
