// Reads from templates what the owners of pods want that were resized before they were seen, as before a restart
// of tautd.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// One object, one thread.
class OwnersReader {
 public:
  struct Options {
    // The body of a list at this path. Who watches workloads may list them, but not get one.
    std::function<absl::StatusOr<std::string>(const std::string& path)> get;
    std::function<double()> steady_s;
    double retry_s = 10;  // after an error that may pass
    double refused_retry_s = 600;
  };
  // `cluster` must outlive it.
  OwnersReader(Options options, Cluster* cluster) : options_(std::move(options)), cluster_(cluster) {}

  // Reads what is due, one after the other, until `stopping` says so.
  void Step(const std::function<bool()>& stopping);
  // "": the last one was read.
  const std::string& last_error() const { return last_error_; }

 private:
  absl::Status Read(const PodController& controller);

  const Options options_;
  Cluster* const cluster_;
  std::map<PodController, double> due_;  // not before this time
  std::string last_error_;
};

}  // namespace taut::server
