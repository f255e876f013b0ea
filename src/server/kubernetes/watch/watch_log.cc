#include "server/kubernetes/watch/watch_log.h"

#include "common/base/strings.h"
#include "server/kubernetes/act/cluster_writer.h"

namespace taut::server {

WatchLog::Line WatchLog::Note(const std::string& what, const absl::Status& status) {
  const std::lock_guard lock(mutex_);
  const std::string text = StrCat("watching ", what, ": ", Message(status), "; tried again");
  if (status.ok()) {
    const bool was_refused = refused_.erase(what) > 0;
    const bool was_unreachable = unreachable_.erase(what) > 0;
    if (was_refused) return {StrCat("watching ", what, " again")};
    return {was_unreachable && unreachable_.empty() ? "all watches work again" : ""};
  }
  // OutOfRange means that the version of the watch is too old, so the kind is listed again. The server is
  // available.
  if (absl::IsOutOfRange(status)) return {text, true};
  if (MayPass(status)) {
    const bool is_first = unreachable_.empty();
    const bool is_new = unreachable_.insert(what).second;
    return {is_first && is_new ? text : "", true};
  }
  std::string& why = refused_[what];
  if (why == Message(status)) return {};
  why = Message(status);
  return {text, true};
}

}  // namespace taut::server
