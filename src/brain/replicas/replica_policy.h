// The interface of horizontal scaling: it receives the load of one job, and returns a number of tasks with
// its reason.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "brain/replicas/load_analogs.h"
#include "common/base/bytes.h"
#include "common/base/time.h"
#include "common/model/reason.h"

namespace taut::brain {

// Number of tasks above which a load is invalid, because its source must be broken.
inline constexpr double kMostTasksOfLoad = 1e9;
// Returns the load if a policy can use it. Returns nullopt if the load is absent, negative or not finite, or if
// it requires more than kMostTasksOfLoad tasks of this capacity (0: unknown).
inline std::optional<double> UsableLoad(std::optional<double> load, double capacity) {
  const bool is_number = load.has_value() && *load >= 0 && std::isfinite(*load);
  return is_number && *load <= kMostTasksOfLoad * (capacity > 0 ? capacity : *load) ? load : std::nullopt;
}

// The input of a decision.
struct LoadSample {
  Timestamp at;
  std::optional<double> load;  // load in the source's unit, as UsableLoad returned it; absent: not measured
  double capacity = 1;         // load of one task at 100 % utilisation; > 0, unless reads_load() is false
  int ready = 0;               // tasks that process load
  int starting = 0;            // tasks that run and are not ready
  // Changes of other jobs' loads; null if unknown. Must be valid during the call.
  const LoadAnalogs* analogs = nullptr;
  // Values of ReplicaPolicy::signals(); negative or NaN if not measured. Must be valid during the call.
  std::span<const double> signals = {};

  int count() const { return ready + starting; }
};

// An answer of an external recommender, valid for samples up to and including the time `until`.
struct ExternalTasks {
  int count = 0;  // number of tasks, >= 0
  Timestamp until;
  std::string why;  // human-readable explanation; may be empty
};

// The expected load: within the band with a chance of 80 %, above and below with a chance of 10 % each.
struct LoadBand {
  Timestamp at;
  double low = 0, high = 0;  // ends of the band, in units of the source
};

// One object per job. Not thread-safe; distinct objects are independent.
class ReplicaPolicy {
 public:
  virtual ~ReplicaPolicy() = default;

  // Returns the number of tasks to run from now on, within the minimum and maximum of the settings. Samples ascend
  // by time. While the load is absent the count stays; a policy may raise the count after a long silence.
  virtual int Decide(const LoadSample& sample) = 0;
  // Returns the named signals (common/model/signal_name.h) that the policy reads; by default none.
  virtual std::span<const std::string> signals() const;
  // Returns false if the policy decides without a load; then the capacity may be 0 (unknown).
  virtual bool reads_load() const;
  // Returns the inputs that the sample lacks, for people: "the load", then signals by name. The default
  // implementation returns the load, if it is read and absent, and the unmeasured signals(). A job's own signals
  // (kOwnSignals) are not missing while no task runs.
  virtual std::vector<std::string> Missing(const LoadSample& sample) const;
  // Stores an answer of an external recommender; nullopt removes the stored answer. Returns the number of tasks
  // to run from now on. Returns nullopt, which is the default, if the last Decide stays valid.
  virtual std::optional<int> TakeExternal(std::optional<ExternalTasks> answer);
  // Returns the load expected at the time when a task started at the last Decide is ready. Returns nullopt
  // without a forecast, which is the default.
  virtual std::optional<LoadBand> Forecast() const;
  // Appends the explanation of the last Decide to `reason`, which may already have content.
  virtual void Explain(Reason& reason) const = 0;

  // Returns the reason, for people, why the last Decide kept the count although all inputs were measured: the
  // policy's result was not a number of tasks. Returns "" in all other cases, and by default.
  virtual std::string NoNumber() const;

  // Returns a copy with equal state.
  virtual std::unique_ptr<ReplicaPolicy> Clone() const = 0;
  // Save appends the state without the settings. Load restores the state of a policy with equal settings, so that
  // both policies make equal further decisions. Returns DataLoss for bytes that Save cannot have written, and
  // InvalidArgument for a state of other settings. The policy is then unchanged.
  virtual void Save(ByteWriter& out) const = 0;
  virtual absl::Status Load(ByteReader& in) = 0;
  // Returns the bytes of the object and its heap memory.
  virtual size_t state_bytes() const = 0;
};

}  // namespace taut::brain
