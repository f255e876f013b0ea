// Which of several tautds may change a cluster: the holder of a Lease (coordination.k8s.io/v1), which it renews as
// the components of Kubernetes do (client-go, tools/leaderelection).
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
  std::string version;      // resourceVersion
  std::string holder;       // "": none
  std::string renewed;      // as its holder wrote it; only compared
  double duration_s = 0;    // how long it holds without being renewed
  int64_t transitions = 0;  // how often the holder has changed
};
// DataLoss: not the JSON of a Lease.
absl::StatusOr<LeaseRecord> ParseLease(std::string_view json);

// One Lease. Errors as ApiStatus: NotFound, Aborted if another has changed or created it meanwhile.
class LeaseStore {
 public:
  virtual ~LeaseStore() = default;
  virtual absl::StatusOr<LeaseRecord> Read() = 0;
  // `time`: RFC 3339 with microseconds.
  virtual absl::Status Create(const LeaseRecord& record, const std::string& time) = 0;
  // Only if its version is still that of the record. `is_taken`: the holder is a new one.
  virtual absl::Status Write(const LeaseRecord& record, const std::string& time, bool is_taken) = 0;
};

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

// Clocks of different machines are not compared: a Lease has expired once it has not changed for its duration,
// by the steady clock of who wants it.
class LeaseKeeper {
 public:
  struct Options {
    std::string identity;               // of no other tautd
    std::function<double()> steady_s;   // one that goes on while the machine is suspended
    std::function<std::string()> time;  // for people: RFC 3339 with microseconds
    double duration_s = 15;
    double renew_deadline_s = 10;  // it is not held for longer than this after a renewal was begun
  };
  LeaseKeeper(Options options, std::unique_ptr<LeaseStore> store)
      : options_(std::move(options)), store_(std::move(store)) {}

  // Renews it, or takes it if it has no holder. Every two seconds or so, from one thread. An error changes
  // nothing: a Lease that cannot be renewed is held until its deadline.
  absl::Status Step();
  // Lets another have it at once; after the last change, from the thread of Step or after it has ended.
  void Release();

  // From any thread.
  bool held() const { return options_.steady_s() < held_until_s_.load(); }
  std::string holder() const;  // as last read; "": none, or not read yet

 private:
  absl::Status Take(LeaseRecord record, double begin_s);
  void NoteHolder(const std::string& holder);

  const Options options_;
  const std::unique_ptr<LeaseStore> store_;
  std::atomic<double> held_until_s_ = -1;
  // Of the thread of Step.
  LeaseRecord seen_;
  double seen_at_s_ = 0;
  mutable std::mutex mutex_;
  std::string holder_;
};

}  // namespace taut::server
