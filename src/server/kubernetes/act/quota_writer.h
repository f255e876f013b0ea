// Keeps a ResourceQuota in each namespace that has quota, so that the API server refuses pods beyond it.
//
// Source: Kubernetes, "Resource Quotas" (requests.cpu, requests.memory) and "Server-Side Apply".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/pool/quota_service.h"

namespace taut::server {

// What the pods of a namespace may request in all: cores and bytes; absent: not limited.
struct NamespaceQuota {
  std::string namespace_name;
  std::optional<double> cpu, memory;
};

// What pods of the namespaces that are groups may request in all, in the default tier: what is in use of it
// and what is available. nullopt: not known, no window has closed yet.
std::optional<std::vector<NamespaceQuota>> NamespaceQuotasOf(const QuotaView& view);

// Step from one thread; counts and last_error from any.
class QuotaWriter {
 public:
  struct Options {
    std::string name = "tautline";  // of the ResourceQuota
    // Server-side apply of `body` at this path.
    std::function<absl::Status(const std::string& path, const std::string& body)> apply;
    // Namespaces that have a ResourceQuota of Tautline's, as from before a restart.
    std::function<absl::StatusOr<std::vector<std::string>>()> existing;
    std::function<double()> steady_s;
    double again_s =
        600;  // what has not changed is written again after this time, should another have changed it
    double retry_s = 30;    // after a failure
    double absent_s = 300;  // where there is no such namespace
  };
  explicit QuotaWriter(Options options) : options_(std::move(options)) {}

  // Writes what is due, one after the other, until `stopping` says so. A namespace that was written and is no
  // longer in `wanted` gets a ResourceQuota without limits. A group that is no namespace is looked for again
  // later, which is no failure. The first Step, and that after Pause, first asks which namespaces have one.
  void Step(const std::vector<NamespaceQuota>& wanted, const std::function<bool()>& stopping);

  // Another may write from here on: what is known of the cluster is not relied on later.
  void Pause();

  struct Counts {
    uint64_t namespaces = 0;  // with a quota that was written
    uint64_t written = 0, failed = 0;
  };
  Counts counts() const;
  std::string last_error() const;  // "": the last write succeeded

  static std::string PathOf(const std::string& namespace_name, const std::string& name);
  static std::string BodyOf(const NamespaceQuota& quota, const std::string& name);
  // Of a list of ResourceQuotas of Tautline's, and their namespaces. DataLoss for what is no list.
  static std::string ListPath();
  static absl::StatusOr<std::vector<std::string>> NamespacesOf(std::string_view list);

 private:
  struct Entry {
    std::string written;  // "": nothing yet
    double due_s = 0;     // at the latest, if it is the same
    double not_before_s = 0;
  };
  void Write(const NamespaceQuota& quota, Entry& entry);
  bool AskExisting();

  const Options options_;
  std::map<std::string, Entry> entries_;  // by namespace; of Step, as are these
  bool asked_ = false;
  double ask_again_s_ = 0;
  mutable std::mutex mutex_;  // over what follows
  Counts counts_;
  std::string last_error_;
};

}  // namespace taut::server
