#include "server/kubernetes/watch/custom_owners.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/strings.h"
#include "common/net/http.h"
#include "server/ingest/owners.h"

namespace taut::server {
namespace {

constexpr int kMostPages = 400;  // limit of pages, with 500 objects each
constexpr size_t kMostSaid = 8;  // maximum number of kinds in one sentence
constexpr std::array<std::string_view, 9> kKnownKinds = {
    "cronjob",    "daemonset", "deployment", "job", "node", "pod", "replicaset", "replicationcontroller",
    "statefulset"};
constexpr std::array<std::string_view, 4> kRuns = {"pipelinerun", "sparkapplication", "taskrun", "workflow"};

}  // namespace

bool IsKnownKind(std::string_view kind) {
  return kind.empty() || std::ranges::find(kKnownKinds, kind) != kKnownKinds.end() ||
         std::ranges::find(kRuns, kind) != kRuns.end();
}

absl::StatusOr<FoundKind> CustomOwnersReader::List(const std::string& kind,
                                                   const std::function<bool()>& stopping) {
  absl::StatusOr<FoundKind> found = finder_.Find(kind);
  if (!found.ok()) return found;
  std::vector<OwnedObject> all;
  std::string next;
  for (int page = 0; page < kMostPages; ++page) {
    if (stopping()) return absl::CancelledError("stopped");
    const std::string more = next.empty() ? "" : StrCat("&continue=", PercentEncode(next));
    const absl::StatusOr<std::string> body =
        options_.list(StrCat("/apis/", found->api_version, "/", found->plural, "?limit=500", more));
    if (!body.ok()) return body.status();
    ListMeta meta;
    const absl::Status status = parser_.ParseList<OwnedObject>(
        *body, meta, [&all](OwnedObject&& object) { all.push_back(std::move(object)); });
    if (!status.ok()) return status;
    if (meta.next.empty()) {
      options_.take(*found, std::move(all));
      return found;
    }
    next = meta.next;
  }
  return absl::ResourceExhaustedError("it has more than 200,000 objects");
}

void CustomOwnersReader::Step(const std::function<bool()>& stopping) {
  std::vector<std::string> kinds = options_.kinds();
  std::erase_if(kinds, [](const std::string& kind) { return IsKnownKind(kind); });
  std::ranges::sort(kinds);
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  LeaveOut(kinds);
  for (const std::string& kind : kinds) {
    if (stopping()) return;
    {
      const std::lock_guard lock(mutex_);
      if (options_.steady_s() < kinds_[kind].due_s) continue;
    }
    const absl::StatusOr<FoundKind> listed = List(kind, stopping);
    const absl::Status status = listed.status();
    // If tautd may not list a kind, or the kind no longer exists, there are no settings to wait for. Waiting would
    // block the jobs of the kind for ever. Other errors may be temporary.
    const bool is_final = absl::IsPermissionDenied(status) || absl::IsNotFound(status) ||
                          absl::IsInvalidArgument(status) || absl::IsResourceExhausted(status);
    std::optional<FoundKind> gone;
    {
      const std::lock_guard lock(mutex_);
      Kind& of = kinds_[kind];
      of.due_s = options_.steady_s() + (is_final ? options_.refused_again_s : options_.again_s);
      of.is_settled |= status.ok() || is_final;
      of.error = status.ok() ? "" : StrCat(kind, ": ", Message(status));
      if (listed.ok()) of.taken = *listed;
      of.listed_s = options_.steady_s();
      if (is_final) gone = std::exchange(of.taken, std::nullopt);
    }
    if (gone.has_value()) options_.forget(*gone);
  }
  ForgetOthers(kinds);
}

// last_error() reports the omitted kinds, because no decision is made for jobs whose settings are not read. Kinds
// that are already listed are not omitted: anyone who may create a pod may invent kinds of owners, which must not
// displace a real kind.
void CustomOwnersReader::LeaveOut(std::vector<std::string>& kinds) {
  const std::lock_guard lock(mutex_);
  left_out_.clear();
  if (kinds.size() <= options_.most_kinds) return;
  std::stable_partition(kinds.begin(), kinds.end(), [this](const std::string& kind) {
    const auto it = kinds_.find(kind);
    return it != kinds_.end() && it->second.taken.has_value();
  });
  for (size_t i = options_.most_kinds; i < std::min(kinds.size(), options_.most_kinds + kMostSaid); ++i)
    StrAppend(&left_out_, left_out_.empty() ? "" : ", ", kinds[i]);
  if (kinds.size() > options_.most_kinds + kMostSaid)
    StrAppend(&left_out_, " and ", kinds.size() - options_.most_kinds - kMostSaid, " more");
  kinds.resize(options_.most_kinds);
  std::ranges::sort(kinds);
}

// A kind without pods is no longer listed. Its objects may become outdated and must be deleted, even if the kind
// still exists.
void CustomOwnersReader::ForgetOthers(const std::vector<std::string>& owning) {
  std::vector<FoundKind> gone;
  {
    const double now_s = options_.steady_s();
    const std::lock_guard lock(mutex_);
    for (const auto& [kind, of] : kinds_) {
      if (now_s < of.due_s + options_.refused_again_s || std::ranges::binary_search(owning, kind)) continue;
      if (of.taken.has_value()) gone.push_back(*of.taken);
    }
    std::erase_if(kinds_, [&](const auto& item) {
      return now_s >= item.second.due_s + options_.refused_again_s &&
             !std::ranges::binary_search(owning, item.first);
    });
  }
  for (const FoundKind& kind : gone) options_.forget(kind);
}

bool CustomOwnersReader::IsSettled(std::string_view kind) const {
  if (IsKnownKind(kind)) return true;
  const std::lock_guard lock(mutex_);
  const auto it = kinds_.find(kind);
  return it != kinds_.end() && it->second.is_settled;
}

bool CustomOwnersReader::IsListed(std::string_view kind) const {
  const std::lock_guard lock(mutex_);
  const auto it = kinds_.find(kind);
  return it != kinds_.end() && it->second.taken.has_value();
}

void CustomOwnersReader::ListSoon(std::string_view kind) {
  const std::lock_guard lock(mutex_);
  const auto it = kinds_.find(kind);
  if (it == kinds_.end() || !it->second.taken.has_value()) return;
  it->second.due_s = std::min(it->second.due_s, it->second.listed_s + options_.soon_s);
}

std::string CustomOwnersReader::last_error() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  size_t errors = 0;
  for (const auto& [kind, of] : kinds_) {
    if (of.error.empty() || ++errors > kMostSaid) continue;
    StrAppend(&out, out.empty() ? "" : "; ", of.error);
  }
  if (errors > kMostSaid) StrAppend(&out, "; and ", errors - kMostSaid, " more");
  if (!left_out_.empty()) {
    StrAppend(
        &out, out.empty() ? "" : "; ", "annotations of at most ", options_.most_kinds,
        " kinds of custom resources are read, and nothing is decided in modes auto and canary for jobs of ",
        left_out_);
  }
  return out;
}

}  // namespace taut::server
