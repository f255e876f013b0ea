// Reads the owner's limits from the templates of pods. Needed for pods that were resized before tautd saw them,
// such as before a restart of tautd.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "server/kubernetes/watch/cluster.h"

namespace taut::server {

// Reads each template once, and again after an error. Not thread-safe.
class OwnersReader {
 public:
  struct Options {
    // Sends a GET for a list at this path and returns the body. The right to watch workloads includes lists, but
    // not the GET of one object.
    std::function<absl::StatusOr<std::string>(const std::string& path)> get;
    // Returns the time of a steady clock in seconds.
    std::function<double()> steady_s;
    double retry_s = 10;           // delay after a temporary error
    double refused_retry_s = 600;  // delay after a permanent error, such as a refusal
  };
  // `cluster` must outlive this object.
  OwnersReader(Options options, Cluster* cluster) : options_(std::move(options)), cluster_(cluster) {}

  // Reads the due templates one after the other, until `stopping` returns true.
  void Step(const std::function<bool()>& stopping);
  // Returns the last error; "" after a successful read.
  const std::string& last_error() const { return last_error_; }

 private:
  absl::Status Read(const PodController& controller);

  const Options options_;
  Cluster* const cluster_;
  std::map<PodController, double> due_;  // steady time before which a controller is not read
  std::string last_error_;
};

}  // namespace taut::server
