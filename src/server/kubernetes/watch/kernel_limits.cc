#include "server/kubernetes/watch/kernel_limits.h"

#include <algorithm>

#include "common/base/strings.h"
#include "server/ingest/series_text.h"

namespace taut::server {
namespace {

constexpr std::string_view kMetric = "container_spec_memory_limit_bytes{";
// cgroup v1 reports the largest whole number of pages if there is no limit
constexpr double kUnlimited = 1e18;
constexpr double kForgetSeconds = 300;

// Returns the UID in a cgroup's path: "1f0c-..." for "/kubepods/burstable/pod1f0c-..." and for
// "/kubepods.slice/kubepods-pod1f0c_....slice". Returns "" if the cgroup does not belong to a pod.
std::string UidOf(std::string_view id) {
  std::string_view last = id.substr(id.rfind('/') + 1);
  if (last.ends_with(".slice")) last.remove_suffix(6);
  const size_t at = last.rfind("pod");
  if (at == std::string_view::npos || (at > 0 && last[at - 1] != '-')) return "";
  std::string uid(last.substr(at + 3));
  std::ranges::replace(uid, '_', '-');
  return uid;
}

std::string_view ValueOf(const LabelList& labels, std::string_view name) {
  for (const auto& [key, value] : labels) {
    if (key == name) return value;
  }
  return "";
}

void TakeLine(std::string_view line, absl::FunctionRef<void(const std::string& uid, double bytes)> fn) {
  const size_t end = line.rfind('}');
  if (end == std::string_view::npos) return;
  const absl::StatusOr<LabelList> labels = ParseSeriesText(line.substr(0, end + 1));
  // Rows of a pod's containers and of its sandbox name an image, unlike the row of the pod's own cgroup.
  if (!labels.ok() || ValueOf(*labels, "pod").empty() || !ValueOf(*labels, "container").empty() ||
      !ValueOf(*labels, "image").empty())
    return;
  const std::string_view rest = StripSpace(line.substr(end + 1));
  const std::optional<double> bytes = ParseDouble(rest.substr(0, std::min(rest.find(' '), rest.size())));
  const std::string uid = UidOf(ValueOf(*labels, "id"));
  if (bytes.has_value() && *bytes > 0 && *bytes < kUnlimited && !uid.empty()) fn(uid, *bytes);
}

}  // namespace

void ForEachPodLimit(std::string_view text,
                     absl::FunctionRef<void(const std::string& uid, double bytes)> fn) {
  for (size_t at = text.find(kMetric); at != std::string_view::npos; at = text.find(kMetric, at + 1)) {
    if (at > 0 && text[at - 1] != '\n') continue;
    const std::string_view rest = text.substr(at);
    TakeLine(rest.substr(0, std::min(rest.find('\n'), rest.size())), fn);
  }
}

std::optional<double> NeededPodLimit(const Pod& pod) {
  if (pod.resize != ResizeState::kNone || pod.is_ended || pod.containers.empty()) return std::nullopt;
  const std::optional<double>& whole = pod.pod_limits.memory;
  double sum = 0;
  for (const ContainerState& container : pod.containers) {
    const std::optional<double>& limit = container.actual_limits.memory;
    if (limit != container.limits.memory || (!limit.has_value() && !whole.has_value())) return std::nullopt;
    sum += limit.value_or(0);
  }
  return whole.has_value() ? *whole : sum;
}

void KernelLimits::Take(std::string_view page, double now_s) {
  std::map<std::string, Report> found;
  ForEachPodLimit(page, [&](const std::string& uid, double bytes) { found[uid] = {bytes, now_s}; });
  const std::lock_guard lock(mutex_);
  for (auto& [uid, report] : found) reports_.insert_or_assign(uid, report);
  std::erase_if(reports_, [now_s](const auto& item) { return item.second.at_s < now_s - kForgetSeconds; });
}

std::map<std::string, KernelLimits::Report> KernelLimits::reports() const {
  const std::lock_guard lock(mutex_);
  return reports_;
}

}  // namespace taut::server
