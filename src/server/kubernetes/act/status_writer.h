// Keeps the annotation tautline.dev/status of workloads.
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

// It owns the annotation and nothing else: apart from kFieldManager, whose server-side apply would take back what
// that one does not name.
inline constexpr std::string_view kStatusFieldManager = "tautline-status";

// Replace, ReplaceCustom, Put, Remove, counts and last_error from any thread; Step from one.
class StatusWriter {
 public:
  struct Options {
    // Of a workload, without its container; no entry: nothing is recommended for it, and it has no annotation.
    // nullopt: not known now, and it keeps the one that it has. `reasons`: whether they are asked for, too.
    std::function<std::optional<std::vector<ContainerStatus>>(const WorkloadName& workload, bool reasons)> of;
    // Sends a merge patch to this path.
    std::function<absl::Status(const std::string& path, const std::string& patch)> send;
    std::function<double()> retry_after_s;  // as ClusterWriter
    std::function<double()> steady_s;
    double look_s = 20;      // between two looks at a workload
    double settle_s = 10;    // from when it is first seen to the first look
    double again_s = 600;    // between two writes to a workload, but that of taking it away
    double retry_s = 30;     // after a failure that may pass
    double refused_s = 600;  // after one that may not; of a missing right, for its kind and namespace
    double per_second = 5, burst = 10;  // writes to the API server
  };
  explicit StatusWriter(Options options) : options_(std::move(options)) {}

  // `kind`: "Deployment".
  void Replace(const std::string& kind, const std::vector<OwnedObject>& objects);
  // The same of custom resources that own pods (custom_owners.h).
  void ReplaceCustom(const FoundKind& kind, const std::vector<OwnedObject>& objects);
  void Put(const std::string& kind, const OwnedObject& object);
  void Remove(const std::string& kind, const OwnedObject& object);

  // Writes what is due, one after the other, until `stopping` says so: an annotation that says something else than
  // the object's own (SaysTheSame), and null where nothing is recommended. O(workloads that are due).
  void Step(const std::function<bool()>& stopping);

  struct Counts {
    uint64_t written = 0, failed = 0;
  };
  Counts counts() const;
  // "": the last write succeeded, and no right is missing. Of missing rights a sentence for all kinds of
  // Kubernetes
  // itself, and one for each custom kind, with the way out.
  std::string last_error() const;

  // The body of a merge patch of the object of this UID. nullopt: without the annotation.
  static std::string PatchOf(const std::string& uid, const std::optional<std::string>& text);

 private:
  struct Entry {
    WorkloadName workload;
    std::string uid;
    std::optional<std::string> text;  // as the object has it
    double look_at_s = 0;             // not before
    double write_at_s = 0;            // likewise, but for taking it away
  };
  using Key = std::string;  // as WorkloadKey
  // Whether it is one to look at now; then the next look is put off.
  std::optional<Entry> TakeDue(const Key& key, double now_s);
  void PutLocked(const std::string& kind, const OwnedObject& object);  // REQUIRES: mutex_
  void Look(const Key& key, const Entry& entry);
  void Write(const Key& key, const Entry& entry, const std::optional<std::string>& text);
  void NoteFailure(const Key& key, const Entry& entry, const absl::Status& status);
  bool HasToken(double now_s);
  absl::StatusOr<std::string> PathOf(const WorkloadName& workload) const;
  // All REQUIRE mutex_. A right: "" for all kinds of Kubernetes itself, which one file gives, or a custom kind.
  std::string RightFor(const std::string& kind) const;
  std::string WayOut(const std::string& right) const;
  void ForgetErrorsOfRights();  // of those that are not refused anywhere any more

  const Options options_;
  mutable std::mutex mutex_;
  std::map<Key, Entry> entries_;
  std::map<std::string, FoundKind> custom_;  // by the kind, as in names of jobs
  std::map<std::pair<std::string, std::string>, double> forbidden_until_s_;  // by kind and namespace
  std::map<std::string, std::string> forbidden_errors_;                      // by right, of the first refusal
  std::string last_error_;
  Counts counts_;
  // Of the thread of Step.
  double tokens_ = 0, filled_at_s_ = -1, paused_until_s_ = 0;
};

}  // namespace taut::server
