// Keeps a ResourceQuota in each namespace that has quota, so that the API server rejects pods beyond the
// quota.
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

// Upper bounds for the total requests of a namespace's pods, in cores and bytes; absent: unlimited.
struct NamespaceQuota {
  std::string namespace_name;
  std::optional<double> cpu, memory;
};

// Returns the bounds for the groups that are namespaces, in the default tier. A bound is the quota in use
// plus the quota that is available. nullopt before the first window has closed.
std::optional<std::vector<NamespaceQuota>> NamespaceQuotasOf(const QuotaView& view);

// Step must be called from one thread; counts and last_error may be called from any thread.
class QuotaWriter {
 public:
  struct Options {
    std::string name = "tautline";  // name of the ResourceQuota
    // Sends `body` to `path` as a server-side apply.
    std::function<absl::Status(const std::string& path, const std::string& body)> apply;
    // Returns the namespaces that have a ResourceQuota of Tautline, for example from before a restart.
    std::function<absl::StatusOr<std::vector<std::string>>()> existing;
    std::function<double()> steady_s;
    // An unchanged quota is written again after this time, because another program may have changed it.
    double again_s = 600;
    double retry_s = 30;    // delay after a failed write
    double absent_s = 300;  // delay if the namespace does not exist
  };
  explicit QuotaWriter(Options options) : options_(std::move(options)) {}

  // Writes the quotas that are due, one after the other, until `stopping` returns true. A namespace that was
  // written before but is not in `wanted` gets a ResourceQuota without limits. A group that is not a
  // namespace is retried later, without an error. The first Step, and the first Step after Pause, lists the
  // existing ResourceQuotas.
  void Step(const std::vector<NamespaceQuota>& wanted, const std::function<bool()>& stopping);

  // Call when another tautd may write from now on. Forgets the state of the cluster's ResourceQuotas.
  void Pause();

  struct Counts {
    uint64_t namespaces = 0;  // namespaces whose quota was written
    uint64_t written = 0, failed = 0;
  };
  Counts counts() const;
  std::string last_error() const;  // "": the last write succeeded

  static std::string PathOf(const std::string& namespace_name, const std::string& name);
  static std::string BodyOf(const NamespaceQuota& quota, const std::string& name);
  // ListPath returns the path of the list of Tautline's ResourceQuotas. The function below it returns the
  // namespaces in the list. DataLoss if the text is not a list.
  static std::string ListPath();
  static absl::StatusOr<std::vector<std::string>> NamespacesOf(std::string_view list);

 private:
  struct Entry {
    std::string written;  // content that was last written; "": none
    double due_s = 0;     // latest time of the next write if nothing changes
    double not_before_s = 0;
  };
  void Write(const NamespaceQuota& quota, Entry& entry);
  bool AskExisting();

  const Options options_;
  // Entry by namespace; entries_ and the next two members are used only by Step.
  std::map<std::string, Entry> entries_;
  bool asked_ = false;
  double ask_again_s_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  Counts counts_;
  std::string last_error_;
};

}  // namespace taut::server
