#include "tools/cli/vpa_checkpoints.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/time/time.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/base/whole_number.h"
#include "tools/cli/answer.h"
#include "tools/cli/json_text.h"

namespace taut::tools {
namespace {

constexpr std::string_view kVpa = "VerticalPodAutoscaler", kCheckpoint = "VerticalPodAutoscalerCheckpoint";
constexpr double kSamplesPerDay = 1440;
constexpr int64_t kMostBuckets = 1'000'000;
constexpr std::string_view kCheckpointVersion = "v3";

// Returns the text at `key`; "" if absent or not a text.
std::string WordAt(const Json& value, const char* key) {
  const Json& word = At(value, key);
  return word.is_string() ? word.get<std::string>() : "";
}
std::optional<int64_t> MomentAt(const Json& value, const char* key) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, WordAt(value, key), &time, &error)) return std::nullopt;
  return absl::ToUnixSeconds(time);
}

absl::StatusOr<brain::VpaHistogram> ReadHistogram(const Json& value, Resource r,
                                                  const brain::VpaSettings& settings) {
  std::vector<brain::VpaHistogram::Weight> weights;
  const Json& buckets = At(value, "bucketWeights");
  if (buckets.is_object()) {
    for (const auto& [key, weight] : buckets.items()) {
      const std::optional<int64_t> bucket = WholeNumber(key);
      if (!bucket.has_value() || std::abs(*bucket) > kMostBuckets || !weight.is_number_unsigned())
        return absl::InvalidArgumentError(StrCat("bucketWeights: \"", key, "\" is no bucket with a weight"));
      weights.push_back({static_cast<int>(*bucket), weight.get<uint32_t>()});
    }
  }
  const Json& total = At(value, "totalWeight");
  return brain::VpaHistogram::OfCheckpoint(
      InCores(r) ? brain::VpaHistogram::kFirstCpu : brain::VpaHistogram::kFirstMemory, settings.half_life_s,
      weights, total.is_number() ? total.get<double>() : 0,
      MomentAt(value, "referenceTimestamp").value_or(0));
}

// Target of each VerticalPodAutoscaler as kind and name, by namespace and name of the autoscaler.
using VpaTargets = std::map<std::pair<std::string, std::string>, std::string>;

absl::StatusOr<VpaLearnt> ReadCheckpoint(const Json& item, const VpaTargets& targets,
                                         std::string_view cluster, const brain::VpaSettings& settings) {
  const std::string ns = WordAt(At(item, "metadata"), "namespace");
  const Json &spec = At(item, "spec"), &status = At(item, "status");
  const std::string vpa = WordAt(spec, "vpaObjectName"), container = WordAt(spec, "containerName");
  if (ns.empty() || vpa.empty() || container.empty())
    return absl::InvalidArgumentError("it names no namespace, VerticalPodAutoscaler or container");
  if (const std::string version = WordAt(status, "version"); version != kCheckpointVersion)
    return absl::InvalidArgumentError(StrCat("version \"", version, "\": expected ", kCheckpointVersion));
  VpaLearnt out;
  const auto target = targets.find({ns, vpa});
  out.job = StrCat(cluster, cluster.empty() ? "" : "/", ns, "/",
                   target == targets.end() ? StrCat("*/", vpa) : target->second, "/", container);
  const std::optional<int64_t> first = MomentAt(status, "firstSampleStart"),
                               last = MomentAt(status, "lastSampleStart");
  if (first.has_value() && last.has_value())
    out.days = static_cast<double>(std::max<int64_t>(0, *last - *first)) / kDaySeconds;
  const Json& samples = At(status, "totalSamplesCount");
  const double confidence =
      std::min(out.days, (samples.is_number() ? samples.get<double>() : 0) / kSamplesPerDay);
  for (const Resource r : kResources) {
    const absl::StatusOr<brain::VpaHistogram> histogram =
        ReadHistogram(At(status, StrCat(Name(r), "Histogram")), r, settings);
    if (!histogram.ok()) return histogram.status();
    const auto i = static_cast<size_t>(r);
    out.has_learnt[i] = !histogram->empty();
    out.estimates[i] = brain::EstimateOf(*histogram, r, settings, confidence);
  }
  return out;
}

}  // namespace

absl::StatusOr<VpaCheckpoints> ReadVpaCheckpoints(std::string_view text, std::string_view cluster,
                                                  const brain::VpaSettings& settings) {
  const Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded()) return absl::InvalidArgumentError("no JSON");
  std::vector<const Json*> items;
  if (At(root, "items").is_array()) {
    for (const Json& item : At(root, "items")) items.push_back(&item);
  } else {
    items.push_back(&root);
  }
  VpaTargets targets;
  for (const Json* item : items) {
    if (WordAt(*item, "kind") != kVpa) continue;
    const Json& metadata = At(*item, "metadata");
    const Json& target = At(At(*item, "spec"), "targetRef");
    targets[{WordAt(metadata, "namespace"), WordAt(metadata, "name")}] =
        StrCat(absl::AsciiStrToLower(WordAt(target, "kind")), "/", WordAt(target, "name"));
  }
  VpaCheckpoints out;
  size_t checkpoints = 0;
  for (const Json* item : items) {
    if (WordAt(*item, "kind") != kCheckpoint) continue;
    ++checkpoints;
    absl::StatusOr<VpaLearnt> learnt = ReadCheckpoint(*item, targets, cluster, settings);
    if (learnt.ok()) {
      out.containers.push_back(*std::move(learnt));
    } else {
      out.warnings.push_back(
          StrCat("checkpoint ", WordAt(At(*item, "metadata"), "name"), ": ", Message(learnt.status())));
    }
  }
  if (checkpoints == 0) {
    return absl::InvalidArgumentError(
        "no VerticalPodAutoscalerCheckpoint in it: expected what `kubectl get vpa,vpacheckpoint -A -o json` "
        "prints");
  }
  std::ranges::stable_sort(out.containers, {}, &VpaLearnt::job);
  return out;
}

}  // namespace taut::tools
