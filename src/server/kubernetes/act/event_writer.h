// What Tautline does with a workload as Events of the cluster (core/v1), which `kubectl describe` shows.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "common/model/rollout.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// What an Event needs to name a workload.
struct WorkloadIdentity {
  std::string api_version, kind, uid;
};

// Of the workloads whose metadata is watched. Thread-safe.
class WorkloadDirectory {
 public:
  // `kind`: "Deployment".
  void Replace(const std::string& kind, const std::string& api_version,
               const std::vector<OwnedObject>& objects);
  void Put(const std::string& kind, const std::string& api_version, const OwnedObject& object);
  void Remove(const std::string& kind, const OwnedObject& object);
  std::optional<WorkloadIdentity> Find(const WorkloadName& workload) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, WorkloadIdentity> identities_;  // by WorkloadKey
};

struct WorkloadEvent {
  WorkloadName workload;
  std::string reason;  // "LimitSet"
  std::string message;
  bool is_warning = false;
};
// The event that a decision is for people.
WorkloadEvent EventOf(const Decision& decision, const WorkloadName& workload);
// That a pod was evicted, since `why`.
WorkloadEvent EvictionEvent(const WorkloadName& workload, const Pod& pod, std::string_view why);
// That the kernel holds a pod to less than its limits, as `text` says.
WorkloadEvent LowLimitEvent(const WorkloadName& workload, std::string_view text);
// That a label or annotation of the workload is not used.
WorkloadEvent RefusalEvent(const WorkloadName& workload, std::string_view sentence);
// The Event object, as JSON. `time`: RFC 3339.
std::string EventJson(const WorkloadEvent& event, const WorkloadIdentity& identity, std::string_view time);

// Events wait in a queue and are written at a bounded rate; those beyond the queue are dropped, the newest first,
// and so are those that the server refuses. Add and counts from any thread; Step from one.
class EventWriter {
 public:
  struct Options {
    // Posts the body to the collection.
    std::function<absl::Status(const std::string& collection, const std::string& body)> send;
    std::function<std::string()> time;
    std::function<double()> steady_s;
    double per_second = 10, burst = 50;
    size_t max_waiting = 1000;
  };
  EventWriter(Options options, const WorkloadDirectory* directory)
      : options_(std::move(options)), directory_(directory) {}

  // Of a workload that is not in the directory: dropped.
  void Add(WorkloadEvent event);
  // Writes what the rate allows, until `stopping` says so.
  void Step(const std::function<bool()>& stopping);

  struct Counts {
    uint64_t written = 0, failed = 0, dropped = 0;
  };
  Counts counts() const;
  std::string last_error() const;  // "": the last one was written

 private:
  std::optional<WorkloadEvent> Next();

  const Options options_;
  const WorkloadDirectory* const directory_;
  mutable std::mutex mutex_;
  std::deque<WorkloadEvent> waiting_;
  Counts counts_;
  std::string last_error_;
  // Of the thread of Step.
  double tokens_ = 0, filled_at_s_ = -1;
};

}  // namespace taut::server
