// Decides which of several tautds may change a cluster: the holder of a Lease (coordination.k8s.io/v1), which is
// renewed as in Kubernetes' own components (client-go, tools/leaderelection).
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/kubernetes/client/api_client.h"

namespace taut::server {

struct LeaseRecord {
  std::string version;      // resourceVersion of the object
  std::string holder;       // identity of the holder; "": none
  std::string renewed;      // renewTime as written by the holder; compared for equality only
  double duration_s = 0;    // time for which the Lease is valid without a renewal
  int64_t transitions = 0;  // number of changes of the holder
};
// Parses a Lease. Returns DataLoss if the text is not the JSON of a Lease.
absl::StatusOr<LeaseRecord> ParseLease(std::string_view json);

// Reads and writes one Lease. Functions return errors of ApiStatus(), such as NotFound, or Aborted if another
// tautd changed or created the Lease meanwhile.
class LeaseStore {
 public:
  virtual ~LeaseStore() = default;
  virtual absl::StatusOr<LeaseRecord> Read() = 0;
  // Creates the Lease. `time` is in RFC 3339 with microseconds.
  virtual absl::Status Create(const LeaseRecord& record, const std::string& time) = 0;
  // Writes the Lease if its stored version equals the record's version. `is_taken`: the holder is new.
  virtual absl::Status Write(const LeaseRecord& record, const std::string& time, bool is_taken) = 0;
};

// Reads and writes a Lease at the API server. Not thread-safe.
class ApiLeaseStore final : public LeaseStore {
 public:
  ApiLeaseStore(std::unique_ptr<ApiClient> client, std::string name_space, std::string name)
      : client_(std::move(client)), namespace_(std::move(name_space)), name_(std::move(name)) {}
  absl::StatusOr<LeaseRecord> Read() override;
  absl::Status Create(const LeaseRecord& record, const std::string& time) override;
  absl::Status Write(const LeaseRecord& record, const std::string& time, bool is_taken) override;

 private:
  const std::unique_ptr<ApiClient> client_;
  const std::string namespace_, name_;
};

// Acquires, renews and releases a Lease. Never compares clocks of different machines. A Lease has expired if it
// has not changed for its duration, by the steady clock of the observing tautd.
class LeaseKeeper {
 public:
  struct Options {
    std::string identity;               // identity, which must be unique among tautds
    std::function<double()> steady_s;   // steady clock, which must advance while the machine is suspended
    std::function<std::string()> time;  // current time for users, in RFC 3339 with microseconds
    double duration_s = 15;
    // maximum time of holding the Lease since the start of the last successful renewal
    double renew_deadline_s = 10;
  };
  LeaseKeeper(Options options, std::unique_ptr<LeaseStore> store)
      : options_(std::move(options)), store_(std::move(store)) {}

  // Renews the Lease, or acquires it if it has no holder or has expired. Call about every two seconds, from one
  // thread. An error leaves the state unchanged: a Lease that cannot be renewed is held until its deadline.
  absl::Status Step();
  // Releases the Lease at once. Call after the last change in the cluster, from the thread of Step() or after this
  // thread has ended.
  void Release();

  // Returns true if this tautd holds the Lease. Thread-safe.
  bool held() const { return options_.steady_s() < held_until_s_.load(); }
  std::string holder() const;  // holder at the last read; "": none, or the Lease was not read yet

 private:
  absl::Status Take(LeaseRecord record, double begin_s);
  void NoteHolder(const std::string& holder);

  const Options options_;
  const std::unique_ptr<LeaseStore> store_;
  std::atomic<double> held_until_s_ = -1;
  // Only Step() uses these members.
  LeaseRecord seen_;
  double seen_at_s_ = 0;
  mutable std::mutex mutex_;
  std::string holder_;
};

}  // namespace taut::server
