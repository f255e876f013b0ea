// Writes Events (core/v1) about Tautline's changes of workloads, for `kubectl describe`.
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

// Fields with which an Event refers to a workload.
struct WorkloadIdentity {
  std::string api_version, kind, uid;
};

// Identities of the workloads that tautd watches. Thread-safe.
class WorkloadDirectory {
 public:
  // Replaces all workloads of a kind, such as "Deployment".
  void Replace(const std::string& kind, const std::string& api_version,
               const std::vector<OwnedObject>& objects);
  void Put(const std::string& kind, const std::string& api_version, const OwnedObject& object);
  void Remove(const std::string& kind, const OwnedObject& object);
  std::optional<WorkloadIdentity> Find(const WorkloadName& workload) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, WorkloadIdentity> identities_;  // identities by WorkloadKey()
};

struct WorkloadEvent {
  WorkloadName workload;
  std::string reason;  // reason such as "LimitSet"
  std::string message;
  bool is_warning = false;
};
// Returns the Event about a decision.
WorkloadEvent EventOf(const Decision& decision, const WorkloadName& workload);
// Returns the Event about the eviction of a pod for the reason `why`.
WorkloadEvent EvictionEvent(const WorkloadName& workload, const Pod& pod, std::string_view why);
// Returns the Event about a pod whose cgroup has a lower limit than the pod. `text` describes the amounts.
WorkloadEvent LowLimitEvent(const WorkloadName& workload, std::string_view text);
// Returns the Event about a label or annotation that has no effect on the workload.
WorkloadEvent RefusalEvent(const WorkloadName& workload, std::string_view sentence);
// Returns the Event as JSON. `time` is the time of the Event in RFC 3339.
std::string EventJson(const WorkloadEvent& event, const WorkloadIdentity& identity, std::string_view time);

// Writes Events from a queue at a bounded rate. Drops Events if the queue is full, and Events that the server
// rejects. Any thread may call Add() and counts(), but only one thread may call Step().
class EventWriter {
 public:
  struct Options {
    // Posts `body`, the JSON of an Event, to the path `collection`.
    std::function<absl::Status(const std::string& collection, const std::string& body)> send;
    std::function<std::string()> time;
    std::function<double()> steady_s;
    double per_second = 10, burst = 50;
    size_t max_waiting = 1000;
  };
  EventWriter(Options options, const WorkloadDirectory* directory)
      : options_(std::move(options)), directory_(directory) {}

  // Queues an Event. Step() drops it if its workload is not in the directory.
  void Add(WorkloadEvent event);
  // Writes queued Events until the rate is exhausted, the queue is empty, or `stopping` returns true.
  void Step(const std::function<bool()>& stopping);

  struct Counts {
    uint64_t written = 0, failed = 0, dropped = 0;
  };
  Counts counts() const;
  std::string last_error() const;  // error of the last write; "" if it succeeded

 private:
  std::optional<WorkloadEvent> Next();

  const Options options_;
  const WorkloadDirectory* const directory_;
  mutable std::mutex mutex_;
  std::deque<WorkloadEvent> waiting_;
  Counts counts_;
  std::string last_error_;
  // Only Step() uses these members.
  double tokens_ = 0, filled_at_s_ = -1;
};

}  // namespace taut::server
