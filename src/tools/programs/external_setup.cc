#include "tools/programs/external_setup.h"

#include <algorithm>

#include "common/base/time.h"
#include "server/connectors/external_recommender.h"
#include "spdlog/spdlog.h"

namespace taut::tools {

absl::StatusOr<std::unique_ptr<server::ExternalRecommender>> OpenExternalRecommender(
    const server::ExternalRecommenderConfig& config, const std::string& cell, std::function<int64_t()> now_s,
    std::function<PerResource<double>()> machine) {
  server::ExternalRecommenderOptions options;
  options.address = config.address;
  options.ca_file = config.ca_file;
  options.certificate_file = config.certificate_file;
  options.key_file = config.key_file;
  options.cell = cell;
  options.deadline_ms = config.deadline_s * 1000;
  options.hold_windows = static_cast<int>(std::max<int64_t>(1, config.hold_s / kWindowSeconds));
  options.max_step = config.max_step;
  options.machine = std::move(machine);
  options.now_s = std::move(now_s);
  return server::ConnectExternalRecommender(options);
}

void ExternalRecommenderLog::Seen(const server::ExternalHealth& health,
                                  const std::vector<server::RefusedAnswer>& refused) {
  const bool failed = !health.error.empty();
  if (failed && !failed_) {
    spdlog::warn(
        "external recommender: {}; jobs keep its last answers for external_recommender.hold, then their "
        "own recommenders take over",
        health.error);
  }
  if (health.ok && (failed_ || !answered_)) spdlog::info("the external recommender answers");
  failed_ = failed;
  answered_ = answered_ || health.ok;
  for (const server::RefusedAnswer& r : refused) {
    spdlog::warn(
        "external recommender: an answer is not taken ({}): {}: {}; see "
        "tautd_external_recommender_refused_total for how many",
        Name(r.kind), r.job, r.text);
  }
}

}  // namespace taut::tools
