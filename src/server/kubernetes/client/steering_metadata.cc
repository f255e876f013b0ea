#include "server/kubernetes/client/steering_metadata.h"

#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "common/model/labels.h"
#include "server/kubernetes/watch/steering.h"
#include "server/kubernetes/watch/workload_split.h"

namespace taut::server {
namespace {

constexpr size_t kMostRefused = 8;   // maximum number of sentences per object
constexpr size_t kMostOptOuts = 64;  // maximum number of opt-outs per pod

// Returns true for names such as "tautline.dev/mode" and "app.tautline.dev/mode".
bool IsSteering(std::string_view annotation) {
  const size_t at = annotation.find(kSettingLabel);
  return at == 0 || (at != std::string_view::npos && annotation[at - 1] == '.');
}

// Reads one label or annotation of a pod. Settings are read from the workload, but a mode that opts out is also
// valid on a pod.
void ReadPodSteering(std::string_view what, std::string_view key, std::string_view value, Pod& pod) {
  if (!IsSteering(key) || key == kProgramName || key == kOwnersAnnotation) return;
  const bool fits = key == kModeLabel || pod.opt_outs.size() < kMostOptOuts;
  if (fits && key.ends_with(kModeLabel) && IsOptOut(value)) return TakeSaferMode(key, value, pod.opt_outs);
  if (pod.refused.size() >= kMostRefused) return;
  pod.refused.push_back(
      StrCat("The ", what, " ", CutUtf8(key, 253), "=", CutUtf8(value, 63), " of its pods is not used: only ",
             kModeLabel, " with off or observe counts there; settings are annotations of the workload"));
}

// Maximum size of an object's settings in bytes, keys and values together. There are a few dozen settings.
constexpr size_t kMostSteering = 16 << 10;

void ReadSteering(std::string_view key, std::string_view value, size_t& bytes, OwnedObject& object) {
  bytes += key.size() + value.size();
  if (bytes <= kMostSteering) {
    object.steering.emplace_back(key, value);
  } else if (object.refused.empty()) {
    object.refused.push_back(StrCat("Of the annotations ", kSettingLabel, "* of this object those beyond ",
                                    kMostSteering >> 10, " KiB are not used"));
  }
}

// Reads one label that has the name of a setting. Only labels that opt out have an effect.
void ReadSteeringLabel(std::string_view key, std::string_view value, OwnedObject& object) {
  if (!IsSteering(key) || key == kProgramName) return;
  if (key.ends_with(kModeLabel) && IsOptOut(value)) return TakeSaferMode(key, value, object.steering);
  if (object.refused.size() >= kMostRefused) return;
  object.refused.push_back(StrCat("The label ", key, "=", CutUtf8(value, 63), " is not used: only ",
                                  kModeLabel,
                                  " with off or observe may be a label; settings are annotations"));
}

}  // namespace

void ReadSteeringMetadata(JsonNode metadata, OwnedObject& object) {
  size_t steering_bytes = 0;
  metadata["annotations"].ForEachField([&](std::string_view key, JsonNode value) {
    const std::optional<std::string_view> text = value.text();
    if (!text.has_value()) return;
    if (key == kStatusAnnotation) {
      object.status = std::string(*text);
      return;
    }
    if (key == kSplitAnnotation) {
      if (text->size() <= kMostSteering) object.split = std::string(*text);
      return;
    }
    if (IsSteering(key)) ReadSteering(key, *text, steering_bytes, object);
  });
  metadata["labels"].ForEachField([&object](std::string_view key, JsonNode value) {
    if (const auto text = value.text(); text.has_value()) ReadSteeringLabel(key, *text, object);
  });
}

void ReadSteeringMetadata(JsonNode metadata, Pod& pod) {
  metadata["labels"].ForEachField([&pod](std::string_view key, JsonNode value) {
    if (const auto text = value.text(); text.has_value()) ReadPodSteering("label", key, *text, pod);
  });
  metadata["annotations"].ForEachField([&pod](std::string_view key, JsonNode value) {
    if (const auto text = value.text(); text.has_value()) ReadPodSteering("annotation", key, *text, pod);
  });
}

}  // namespace taut::server
