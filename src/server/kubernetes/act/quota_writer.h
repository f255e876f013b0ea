// Maintains a ResourceQuota in each namespace with quota, so that the API server rejects pods beyond the quota.
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

// Upper bounds for the sum of requests in a namespace, in cores and bytes; absent: unlimited.
struct NamespaceQuota {
  std::string namespace_name;
  std::optional<double> cpu, memory;
};

// Returns the bounds of groups that are namespaces, in the default tier. A bound is the sum of used and available
// quota. Returns nullopt before the first window has closed.
std::optional<std::vector<NamespaceQuota>> NamespaceQuotasOf(const QuotaView& view);

// Writes ResourceQuotas. Only one thread may call Step(); any thread may call counts() and last_error().
class QuotaWriter {
 public:
  struct Options {
    std::string name = "tautline";  // name of the ResourceQuota
    // Applies `body` to `path` by server-side apply.
    std::function<absl::Status(const std::string& path, const std::string& body)> apply;
    // Returns the namespaces with a ResourceQuota of Tautline, which may be from before a restart.
    std::function<absl::StatusOr<std::vector<std::string>>()> existing;
    std::function<double()> steady_s;
    // Time after which an unchanged quota is written again, in seconds. Another program may have changed the
    // quota.
    double again_s = 600;
    double retry_s = 30;    // delay after a failed write
    double absent_s = 300;  // delay if the namespace does not exist
  };
  explicit QuotaWriter(Options options) : options_(std::move(options)) {}

  // Writes the due quotas one after the other, until `stopping` returns true. For a namespace that is no longer in
  // `wanted`, writes a ResourceQuota without limits. If a group has no namespace, the write is retried later
  // without an error. The first Step(), and the first Step() after Pause(), lists the existing ResourceQuotas.
  void Step(const std::vector<NamespaceQuota>& wanted, const std::function<bool()>& stopping);

  // Forgets the state of the cluster's ResourceQuotas. Call when another tautd may write from now on.
  void Pause();

  struct Counts {
    uint64_t namespaces = 0;  // number of namespaces whose quota was written
    uint64_t written = 0, failed = 0;
  };
  Counts counts() const;
  std::string last_error() const;  // error of the last write; "" if it succeeded

  static std::string PathOf(const std::string& namespace_name, const std::string& name);
  static std::string BodyOf(const NamespaceQuota& quota, const std::string& name);
  // ListPath() returns the path of the list of Tautline's ResourceQuotas. NamespacesOf() returns the namespaces in
  // the list, and DataLoss if the text is not a list.
  static std::string ListPath();
  static absl::StatusOr<std::vector<std::string>> NamespacesOf(std::string_view list);

 private:
  struct Entry {
    std::string written;  // content of the last write; "": none
    double due_s = 0;     // latest time of the next write
    double not_before_s = 0;
  };
  void Write(const NamespaceQuota& quota, Entry& entry);
  bool AskExisting();

  const Options options_;
  // Entries by namespace. Only Step() uses the members from here to mutex_.
  std::map<std::string, Entry> entries_;
  bool asked_ = false;
  double ask_again_s_ = 0;
  mutable std::mutex mutex_;  // lock for the members below
  Counts counts_;
  std::string last_error_;
};

}  // namespace taut::server
