// Writes the status of VerticalPodAutoscalers whose recommender is Tautline.
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
#include "server/kubernetes/watch/cluster.h"
#include "server/kubernetes/watch/field_owners.h"
#include "server/kubernetes/watch/vpa.h"

namespace taut::server {

// Writes recommendations. Only one thread may call Step(); any thread may call the other functions.
class VpaWriter {
 public:
  struct Options {
    std::string recommender = "tautline";  // spec.recommenders[0].name
    // Returns the recommendation per task of the container's job; absent if there is no recommendation or no such
    // job.
    std::function<Amounts(const WorkloadName& container, bool requests_only)> advice;
    // Finds autoscalers that rely on a request, which must then not change. Must outlive the writer. Nothing is
    // written before the HorizontalPodAutoscalers are listed. Null: there are no autoscalers.
    const FieldOwners* owners = nullptr;
    // Sends the merge patch `patch` to `path`.
    std::function<absl::Status(const std::string& path, const std::string& patch)> send;
    std::function<std::string()> time;  // current time in RFC 3339
    std::function<double()> steady_s;
    // Time after which an unchanged status is written again, in seconds. Another program may have changed the
    // status.
    double again_s = 600;
    double retry_s = 30;  // delay after a failed write
  };
  // `cluster` must outlive this object.
  VpaWriter(Options options, const Cluster* cluster) : options_(std::move(options)), cluster_(cluster) {}

  void Replace(std::vector<Vpa> vpas);
  void Put(Vpa vpa);
  void Remove(const Vpa& vpa);

  // Writes the due statuses one after the other, until `stopping` returns true.
  void Step(const std::function<bool()>& stopping);

  struct Counts {
    uint64_t vpas = 0;  // number of VPAs whose recommender is Tautline
    uint64_t written = 0, failed = 0;
  };
  Counts counts() const;
  std::string last_error() const;

 private:
  struct Entry {
    Vpa vpa;
    std::string written;  // last written status without its time; "": none
    double due_s = 0;     // latest time of the next write
    double not_before_s = 0;
  };
  static std::string KeyOf(const Vpa& vpa) { return vpa.namespace_name + "/" + vpa.name; }
  void PutLocked(Vpa vpa);  // Stores a VPA. REQUIRES: mutex_ is locked.
  VpaAdvice AdviceOf(const Vpa& vpa) const;
  // Removes the target from the advice if an autoscaler relies on the request.
  void LetStay(const Vpa& vpa, const WorkloadName& workload, ContainerAdvice& advice, VpaAdvice& out) const;
  void Write(const std::string& key, Entry entry);

  const Options options_;
  const Cluster* const cluster_;
  mutable std::mutex mutex_;
  std::map<std::string, Entry> entries_;  // key: "namespace/name"
  uint64_t written_ = 0, failed_ = 0;
  std::string last_error_;
};

}  // namespace taut::server
