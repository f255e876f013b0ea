#include "server/control/past/backfill_source.h"

#include <algorithm>

namespace taut::server {

Timestamp EarliestOf(const BackfillConfig& config, Timestamp now) {
  const double days_us = config.days * brain::kDay * static_cast<double>(kMicrosPerSecond);
  return {now.us - static_cast<int64_t>(days_us)};
}

absl::StatusOr<AddedLabels> AddedLabels::Of(const BackfillConfig& config) {
  AddedLabels out;
  for (const std::string& label : config.labels) {
    auto parsed = ParseBackfillLabel(label);
    if (!parsed.ok()) return parsed.status();
    out.added_.push_back(*std::move(parsed));
  }
  return out;
}

std::span<const LabelView> AddedLabels::AddTo(std::span<const LabelView> labels) {
  if (added_.empty()) return labels;
  all_.assign(labels.begin(), labels.end());
  for (const auto& [name, value] : added_) {
    if (LabelValue(labels, name).empty()) all_.push_back({name, value});
  }
  std::ranges::sort(all_, {}, &LabelView::name);
  return all_;
}

absl::StatusOr<std::unique_ptr<PrometheusHistory>> OpenHistory(const BackfillConfig& config,
                                                               const std::vector<MappingRule>& rules,
                                                               const HistoryOptions& options,
                                                               std::optional<std::chrono::seconds> timeout) {
  absl::StatusOr<std::string> token = ReadSecretFile(config.bearer_token_file);
  if (!token.ok()) return token.status();
  ClientOptions client;
  client.token = *std::move(token);
  client.ca_file = config.ca_file;
  if (timeout.has_value()) client.timeout = *timeout;
  return PrometheusHistory::Create(config.prometheus_url, client, rules, options);
}

}  // namespace taut::server
