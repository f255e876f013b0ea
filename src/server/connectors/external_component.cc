#include "server/connectors/external_component.h"

#include <algorithm>
#include <utility>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "server/connectors/external_recommender.h"

namespace taut::server {
namespace {

// Time for which the status shows a refused answer.
constexpr int64_t kRefusalShownS = 3600;

}  // namespace

absl::StatusOr<std::unique_ptr<ExternalComponent>> ExternalComponent::Open(
    const ExternalRecommenderConfig& config, const std::string& cell,
    std::function<PerResource<double>()> machine, const DaemonContext& context) {
  ExternalRecommenderOptions options;
  options.address = config.address;
  options.ca_file = config.ca_file;
  options.certificate_file = config.certificate_file;
  options.key_file = config.key_file;
  options.cell = cell;
  options.deadline_ms = config.deadline_s * 1000;
  options.hold_windows = static_cast<int>(std::max<int64_t>(1, config.hold_s / kWindowSeconds));
  options.max_step = config.max_step;
  options.machine = std::move(machine);
  options.now_s = [now = context.now] { return now().seconds(); };
  absl::StatusOr<std::unique_ptr<ExternalRecommender>> connected = ConnectExternalRecommender(options);
  if (!connected.ok()) return connected.status();
  return std::unique_ptr<ExternalComponent>(new ExternalComponent(*std::move(connected), context));
}

void ExternalComponent::Tick(const LoopTurn& /*turn*/) {
  const ExternalHealth health = recommender_->health();
  const bool failed = !health.error.empty();
  if (failed && !failed_) {
    context_.log->Warn(
        StrCat("external recommender: ", health.error,
               "; jobs keep its last answers for external_recommender.hold, then their own recommenders take "
               "over"));
  }
  if (health.ok && (failed_ || !answered_)) context_.log->Info("the external recommender answers");
  failed_ = failed;
  answered_ = answered_ || health.ok;
  for (const RefusedAnswer& r : recommender_->TakeRefused()) {
    context_.log->Warn(StrCat("external recommender: an answer is not taken (", Name(r.kind), "): ", r.job,
                              ": ", r.text, "; see tautd_external_recommender_refused_total for how many"));
  }
}

void ExternalComponent::Warn(std::vector<std::string>& warnings) const {
  const ExternalHealth health = recommender_->health();
  if (!health.error.empty())
    warnings.push_back(
        StrCat("the external recommender ",
               health.answers_error ? "answers with an error: " : "does not answer: ", health.error));
  if (health.invalid.empty() || context_.now().seconds() - health.last_invalid_s > kRefusalShownS) return;
  std::string kinds;
  for (size_t i = 0; i < kExternalRefusalNames.size(); ++i) {
    if (health.invalid_by_kind[i] == 0) continue;
    kinds += StrCat(kinds.empty() ? "" : ", ", kExternalRefusalNames[i], " ", health.invalid_by_kind[i]);
  }
  warnings.push_back(
      StrCat("answers of the external recommender are not taken (", kinds, "); the last: ", health.invalid));
}

void ExternalComponent::Collect(MetricsText& out) const {
  const ExternalHealth health = recommender_->health();
  const ControlCounts counts = context_.control->status().counts();
  out.Gauge("tautd_external_recommender_up",
            "1 if the external recommender answered the last request in time.", health.ok ? 1 : 0);
  const auto requests = [&](std::string_view result, uint64_t count) {
    out.Counter("tautd_external_recommender_requests_total",
                "Requests to the external recommender, by result.", count, {{"result", std::string(result)}});
  };
  const uint64_t bad = health.failed_requests + health.late_requests;
  requests("answered", health.requests > bad ? health.requests - bad : 0);
  requests("failed", health.failed_requests);
  requests("late", health.late_requests);
  const auto answers = [&](std::string_view result, uint64_t count) {
    out.Counter(
        "tautd_external_recommender_answers_total",
        "Limits and numbers of tasks in answers, by result; ignored: the job is gone or has external: false.",
        count, {{"result", std::string(result)}});
  };
  answers("taken", counts.external_taken);
  answers("ignored", counts.external_ignored);
  answers("invalid", health.invalid_answers);
  for (size_t i = 0; i < kExternalRefusalNames.size(); ++i)
    out.Counter("tautd_external_recommender_refused_total",
                "Invalid answers, by reason: impossible, or beyond a bound.", health.invalid_by_kind[i],
                {{"kind", std::string(kExternalRefusalNames[i])}});
  out.Counter("tautd_external_recommender_windows_skipped_total",
              "Windows without a request, because an earlier request was unanswered.",
              health.skipped_batches);
  out.Gauge("tautd_external_recommender_last_seconds", "Duration of the last answered request.",
            health.last_seconds);
}

}  // namespace taut::server
