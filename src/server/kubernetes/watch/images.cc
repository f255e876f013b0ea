#include "server/kubernetes/watch/images.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "common/base/strings.h"
#include "server/ingest/owners.h"

namespace taut::server {
namespace {

// Returns the image without tag and digest: "registry:5000/app" for "registry:5000/app:1.2@sha256:0f". A colon
// before the last slash is part of a port.
std::string ImageWithoutTag(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const size_t colon = image.rfind(':'), slash = image.rfind('/');
  const bool has_tag = colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  return std::string(has_tag ? image.substr(0, colon) : image);
}

// Returns "web:1.3" for "registry:5000/shop/web:1.3", and a text like "web@0f0f0f0f0f0f" for an image with a
// digest.
std::string ShortImage(std::string_view image) {
  constexpr size_t kDigits = 12;
  const size_t at = std::min(image.find('@'), image.size());
  const std::string_view name = image.substr(0, at);
  std::string out(name.substr(name.rfind('/') == std::string_view::npos ? 0 : name.rfind('/') + 1));
  const std::string_view digest = image.substr(at);
  const size_t colon = digest.find(':');
  if (colon != std::string_view::npos) StrAppend(&out, "@", digest.substr(colon + 1).substr(0, kDigits));
  return out;
}

// Returns true if the container belongs to the workload, whose container "" stands for all containers.
bool IsOf(const WorkloadName& workload, const ContainerState& container) {
  return workload.container.empty() || workload.container == container.name;
}

}  // namespace

std::vector<std::string> VersionsOf(std::span<const PodPtr> pods, const WorkloadName& workload) {
  std::set<std::string> out;
  for (const PodPtr& pod : pods) {
    std::string version;
    for (const ContainerState& container : pod->containers) {
      if (!IsOf(workload, container) || container.image.empty()) continue;
      StrAppend(&version, version.empty() ? "" : "+", ShortImage(container.image));
    }
    if (!version.empty()) out.insert(std::move(version));
  }
  return {out.begin(), out.end()};
}

std::string MixedImages(std::span<const PodPtr> pods, const WorkloadName& workload) {
  // A pod that runs the image, by container and image without tag.
  std::map<std::string, std::map<std::string, std::string>> images;
  for (const PodPtr& pod : pods) {
    if (!pod->owner_kind.empty() && !IsRunKind(pod->owner_kind)) continue;
    for (const ContainerState& container : pod->containers) {
      if (IsOf(workload, container) && !container.image.empty())
        images[container.name].try_emplace(ImageWithoutTag(container.image), pod->name);
    }
  }
  for (const auto& [container, of_pods] : images) {
    if (of_pods.size() < 2) continue;
    const auto& [one, its_pod] = *of_pods.begin();
    const auto& [other, others_pod] = *std::next(of_pods.begin());
    return StrCat("Runs of different programs may be one job: the container ", container, " has the image ",
                  one, " in the pod ", its_pod, " and ", other, " in ", others_pod,
                  ". A label or annotation ", kProgramName,
                  " on their Jobs or in their pods' template tells them apart.");
  }
  return "";
}

}  // namespace taut::server
