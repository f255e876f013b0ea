#include "server/api/external_metrics.h"

namespace taut::server {

void PutExternalMetrics(const ExternalHealth& health, const ControlCounts& counts, MetricsText& out) {
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
        "Limits and numbers of tasks that it answered, by result; ignored: the job has gone or its setting "
        "external is false.",
        count, {{"result", std::string(result)}});
  };
  answers("taken", counts.external_taken);
  answers("ignored", counts.external_ignored);
  answers("invalid", health.invalid_answers);
  for (size_t i = 0; i < kExternalRefusalNames.size(); ++i)
    out.Counter("tautd_external_recommender_refused_total",
                "Invalid answers, by why they are not taken: impossible, or beyond a bound.",
                health.invalid_by_kind[i], {{"kind", std::string(kExternalRefusalNames[i])}});
  out.Counter("tautd_external_recommender_windows_skipped_total",
              "Windows that it was not asked about, as an earlier one was still being answered.",
              health.skipped_batches);
  out.Gauge("tautd_external_recommender_last_seconds", "How long it took to answer about the last window.",
            health.last_seconds);
}

}  // namespace taut::server
