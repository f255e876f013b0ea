// Maintains the annotation tautline.dev/status of workloads.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "server/kubernetes/act/status_text.h"
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/scale_finder.h"

namespace taut::server {

// Field manager of the annotation. The manager differs from kFieldManager, because a server-side apply by
// kFieldManager would remove an annotation that the apply does not contain.
inline constexpr std::string_view kStatusFieldManager = "tautline-status";

// Writes annotations. Only one thread may call Step(); any thread may call the other functions.
class StatusWriter {
 public:
  struct Options {
    // Returns the status of a workload, which is named without a container. Empty list: nothing is recommended,
    // and the annotation is removed. nullopt: the status is unknown, and the annotation is not changed. With
    // `reasons`, the status includes reasons.
    std::function<std::optional<std::vector<ContainerStatus>>(const WorkloadName& workload, bool reasons)> of;
    // Sends the merge patch `patch` to `path`.
    std::function<absl::Status(const std::string& path, const std::string& patch)> send;
    std::function<double()> retry_after_s;  // returns ClusterWriter::retry_after_s()
    std::function<double()> steady_s;
    double look_s = 20;    // interval between two checks of a workload
    double settle_s = 10;  // delay before the first check of a new workload
    double again_s = 600;  // minimum interval between two writes to a workload, except removals
    double retry_s = 30;   // delay after a temporary failure
    // Delay after other failures. A missing permission delays all writes to the same kind and namespace.
    double refused_s = 600;
    double per_second = 5, burst = 10;  // rate of writes to the API server
  };
  explicit StatusWriter(Options options) : options_(std::move(options)) {}

  // Replaces all workloads of a kind, such as "Deployment".
  void Replace(const std::string& kind, const std::vector<OwnedObject>& objects);
  // Replaces all custom resources of a kind that own pods (custom_owners.h).
  void ReplaceCustom(const FoundKind& kind, const std::vector<OwnedObject>& objects);
  void Put(const std::string& kind, const OwnedObject& object);
  void Remove(const std::string& kind, const OwnedObject& object);

  // Writes the due annotations one after the other, until `stopping` returns true. Writes an annotation if it
  // differs from the object's current annotation (SaysTheSame). Removes the annotation if nothing is recommended.
  // O(due workloads).
  void Step(const std::function<bool()>& stopping);

  struct Counts {
    uint64_t written = 0, failed = 0;
  };
  Counts counts() const;
  // Returns the last error; "" if the last write succeeded and no permission is missing. Missing permissions
  // result in one sentence for all built-in kinds and one per custom kind, with the remedy.
  std::string last_error() const;

  // Returns a merge patch that sets the annotation of the object with this UID. Without `text`, the patch removes
  // the annotation.
  static std::string PatchOf(const std::string& uid, const std::optional<std::string>& text);

 private:
  struct Entry {
    WorkloadName workload;
    std::string uid;
    std::optional<std::string> text;  // annotation of the object; absent: none
    double look_at_s = 0;             // steady time of the next check
    double write_at_s = 0;            // steady time before which only a removal is written
  };
  using Key = std::string;  // WorkloadKey() of a workload
  // Returns the workload's entry if its check is due, and schedules the next check; nullopt otherwise.
  std::optional<Entry> TakeDue(const Key& key, double now_s);
  // Stores an object. REQUIRES: mutex_ is locked.
  void PutLocked(const std::string& kind, const OwnedObject& object);
  void Look(const Key& key, const Entry& entry);
  void Write(const Key& key, const Entry& entry, const std::optional<std::string>& text);
  void NoteFailure(const Key& key, const Entry& entry, const absl::Status& status);
  bool HasToken(double now_s);
  absl::StatusOr<std::string> PathOf(const WorkloadName& workload) const;
  // REQUIRES (also below): mutex_ is locked. Returns the right that writing to a kind requires: "" for all
  // built-in kinds, which one manifest grants, or the name of a custom kind.
  std::string RightFor(const std::string& kind) const;
  std::string WayOut(const std::string& right) const;
  void ForgetErrorsOfRights();  // Deletes errors of permissions that are no longer refused anywhere.

  const Options options_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  // found custom kinds; key: kind as in the names of jobs
  std::map<std::string, FoundKind> custom_;
  std::map<std::pair<std::string, std::string>, double> forbidden_until_s_;  // key: kind and namespace
  // error of the first refusal, by missing permission
  std::map<std::string, std::string> forbidden_errors_;
  std::string last_error_;
  Counts counts_;
  // Only Step() uses these members.
  double tokens_ = 0, filled_at_s_ = -1, paused_until_s_ = 0;
};

}  // namespace taut::server
