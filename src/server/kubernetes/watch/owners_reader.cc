#include "server/kubernetes/watch/owners_reader.h"

#include <iterator>
#include <vector>

#include "common/base/strings.h"
#include "server/ingest/owners.h"
#include "server/kubernetes/act/cluster_writer.h"

namespace taut::server {

absl::Status OwnersReader::Read(const PodController& controller) {
  const absl::StatusOr<std::string> path =
      WorkloadListPath({controller.namespace_name, KindInNames(controller.kind), controller.name, ""});
  if (!path.ok()) {
    cluster_->pods().SetOwnersAmounts(controller, nullptr);
    return path.status();
  }
  const absl::StatusOr<std::string> body = options_.get(*path);
  if (!body.ok()) return body.status();
  const absl::StatusOr<std::vector<ContainerState>> containers = ParseOwnersTemplate(*body);
  // The controller is gone, so its pods will end soon.
  if (!containers.ok()) return absl::NotFoundError(StrCat(Message(containers.status())));
  cluster_->pods().SetOwnersAmounts(controller, &*containers);
  return absl::OkStatus();
}

void OwnersReader::Step(const std::function<bool()>& stopping) {
  for (const PodController& controller : cluster_->changes().TakeUnknownOwners())
    due_.try_emplace(controller, 0);
  for (auto it = due_.begin(); it != due_.end() && !stopping();) {
    if (options_.steady_s() < it->second) {
      ++it;
      continue;
    }
    const absl::Status status = Read(it->first);
    // Do not retry. InvalidArgument: the kind has no known template. NotFound: the controller is gone.
    if (status.ok() || absl::IsInvalidArgument(status) || absl::IsNotFound(status)) {
      if (status.ok()) last_error_.clear();
      it = due_.erase(it);
      continue;
    }
    last_error_ = StrCat("the template of ", it->first.kind, " ", it->first.namespace_name, "/",
                         it->first.name, ": ", Message(status));
    it->second = options_.steady_s() + (MayPass(status) ? options_.retry_s : options_.refused_retry_s);
    ++it;
  }
}

}  // namespace taut::server
