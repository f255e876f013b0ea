#include "server/kubernetes/client/reflector.h"

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "common/net/http.h"

namespace taut::server {
namespace {

// Returns true for errors after which the watch may continue from its version. A server that stops truncates its
// response (DataLoss). A server that has just started may not know the user's permissions yet.
bool LeavesVersion(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnavailable:
    case absl::StatusCode::kDeadlineExceeded:
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kInternal:
    case absl::StatusCode::kResourceExhausted:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
      return true;
    default:
      return false;
  }
}

}  // namespace

template <typename Object>
std::string Reflector<Object>::Path(std::string_view query) const {
  return StrCat(options_.path, options_.path.find('?') == std::string::npos ? "?" : "&", query);
}

template <typename Object>
void Reflector<Object>::NoteWorks() {
  if (failed_) note_(absl::OkStatus());
  failed_ = absent_ = false;
}

template <typename Object>
void Reflector<Object>::NoteAbsent(const absl::Status& status) {
  if (!absent_) {
    sink_.replace({});
    note_(status);
  }
  failed_ = absent_ = true;
  wait_(options_.absent_retry);
}

template <typename Object>
absl::Status Reflector<Object>::List() {
  std::vector<Object> all;
  ListMeta meta;
  ++lists_;
  do {
    const std::string next = meta.next.empty() ? "" : StrCat("&continue=", PercentEncode(meta.next));
    const absl::StatusOr<std::string> body =
        client_->Get(Path(StrCat("limit=", options_.page, next)), options_.list_accept);
    if (!body.ok()) return body.status();
    const absl::Status parsed =
        parser_.ParseList<Object>(*body, meta, [&all](Object&& object) { all.push_back(std::move(object)); });
    if (!parsed.ok()) return parsed;
  } while (!meta.next.empty() && !stopping_);
  // Do not replace all objects by an incomplete list, because the missing objects would appear as deleted.
  if (stopping_) return absl::CancelledError();
  version_ = meta.resource_version;
  NoteWorks();
  sink_.replace(std::move(all));
  return absl::OkStatus();
}

template <typename Object>
void Reflector<Object>::Take(WatchEvent event, Object object) {
  if (event == WatchEvent::kPut) sink_.put(std::move(object));
  if (event == WatchEvent::kDeleted) sink_.remove(std::move(object));
}

template <typename Object>
absl::Status Reflector<Object>::Watch() {
  absl::Status failure;
  heard_ = false;
  const int64_t watch_s =
      std::max<int64_t>(1, std::llround(static_cast<double>(options_.watch.count()) * rng_.Uniform(0.75, 1)));
  const std::string path = Path(StrCat("watch=1&allowWatchBookmarks=true&timeoutSeconds=", watch_s,
                                       "&resourceVersion=", PercentEncode(version_)));
  const absl::Status status = client_->Watch(
      path, options_.watch_accept,
      [&](std::string_view line) {
        WatchMeta meta;
        Object object;
        failure = parser_.ParseWatch<Object>(line, meta, object);
        if (failure.ok() && meta.event == WatchEvent::kError) {
          failure = absl::OutOfRangeError(StrCat("the watch ended with ", meta.error_code, ": ", meta.error));
        }
        if (!failure.ok()) return false;
        heard_ = true;
        NoteWorks();
        // Store the version only after the event was parsed, so that no event is skipped.
        if (!meta.resource_version.empty()) version_ = meta.resource_version;
        Take(meta.event, std::move(object));
        return !stopping_.load();
      },
      options_.silence);
  if (!failure.ok() || !(status.ok() || LeavesVersion(status))) version_.clear();
  return failure.ok() ? status : failure;
}

template <typename Object>
std::chrono::milliseconds Reflector<Object>::Drawn(std::chrono::milliseconds pause) {
  return std::chrono::milliseconds(
      static_cast<int64_t>(static_cast<double>(pause.count()) * rng_.Uniform(0.5, 1.5)));
}

template <typename Object>
void Reflector<Object>::Run() {
  std::chrono::milliseconds pause = options_.first_retry;
  while (!stopping_) {
    absl::Status status = version_.empty() ? List() : absl::OkStatus();
    if (status.ok()) {
      status = Watch();
      // Restart a watch without a pause if it worked for a while.
      if (heard_ || status.ok() || absl::IsOutOfRange(status)) pause = options_.first_retry;
    }
    if (stopping_) return;
    if (status.ok()) {
      // This pause protects against a server that ends each watch at once.
      if (!heard_) wait_(options_.first_retry);
      continue;
    }
    if (absl::IsNotFound(status) && options_.absent_retry.count() > 0) {
      NoteAbsent(status);
      continue;
    }
    failed_ = true;
    absent_ = false;
    note_(status);
    // Do not retry earlier than the server requested.
    const std::chrono::milliseconds asked(1000 * client_->retry_after_s());
    wait_(asked.count() > 0 ? std::max(Drawn(pause), asked + Drawn(options_.first_retry)) : Drawn(pause));
    pause = std::min(pause * 2, options_.last_retry);
  }
}

template class Reflector<Pod>;
template class Reflector<OwnedObject>;
template class Reflector<Node>;
template class Reflector<Vpa>;
template class Reflector<Hpa>;
template class Reflector<KedaScaledObject>;
template class Reflector<NamespaceRule>;

}  // namespace taut::server
