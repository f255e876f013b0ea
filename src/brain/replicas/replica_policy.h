// The seam of horizontal scaling: the load of one job in, a number of tasks with its reason out.
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

// A load that needs more tasks than this is none: its source is broken.
inline constexpr double kMostTasksOfLoad = 1e9;
// The load as a policy may see it: absent where it is absent, no finite number of 0 or more, or of more than
// kMostTasksOfLoad tasks of this capacity (0: not known).
inline std::optional<double> UsableLoad(std::optional<double> load, double capacity) {
  const bool is_number = load.has_value() && *load >= 0 && std::isfinite(*load);
  return is_number && *load <= kMostTasksOfLoad * (capacity > 0 ? capacity : *load) ? load : std::nullopt;
}

// What is known when a decision is due.
struct LoadSample {
  Timestamp at;
  std::optional<double> load;  // in units of the source, as of UsableLoad; absent: not measured
  double capacity =
      1;             // load that one task can process at 100 % utilisation; > 0, unless reads_load() is false
  int ready = 0;     // tasks that process load
  int starting = 0;  // tasks that run and are not ready
  // What other jobs' loads do; null: not known. Valid during the call.
  const LoadAnalogs* analogs = nullptr;
  // The value of each of ReplicaPolicy::signals(); below 0 or not a number: not measured. Valid during the call.
  std::span<const double> signals = {};

  int count() const { return ready + starting; }
};

// What an external recommender has answered; holds for samples up to and including the time `until`.
struct ExternalTasks {
  int count = 0;  // >= 0
  Timestamp until;
  std::string why;  // for people; may be ""
};

// What a policy expects of the load: within the band with a chance of 80 %, and above it as likely as below.
struct LoadBand {
  Timestamp at;
  double low = 0, high = 0;  // in units of the source
};

// One object a job. Not thread-safe; distinct objects are independent.
class ReplicaPolicy {
 public:
  virtual ~ReplicaPolicy() = default;

  // The number of tasks to run from now on. Samples come in ascending order of time. While the load is absent
  // the count stays as it is; a policy may raise it after a long silence. Never below the minimum or
  // above the maximum of the settings.
  virtual int Decide(const LoadSample& sample) = 0;
  // The named signals (common/model/signal_name.h) that the policy reads; none, as by default: the load alone.
  virtual std::span<const std::string> signals() const;
  // False: it decides without a load; then the capacity may be 0, not known.
  virtual bool reads_load() const;
  // What the sample lacks of what the policy reads, for people: "the load", then signals by name. By default the
  // load, if it reads one, and of signals() what is not measured; where no task runs, a job's own signals
  // (kOwnSignals) are not lacking.
  virtual std::vector<std::string> Missing(const LoadSample& sample) const;
  // Takes in an answer of an external recommender, or forgets the one there is. Returns the number of tasks to
  // run from now on; absent, as by default: that of the last Decide stands.
  virtual std::optional<int> TakeExternal(std::optional<ExternalTasks> answer);
  // The load when a task that is started at the last Decide is ready; absent, as by default: no forecast.
  virtual std::optional<LoadBand> Forecast() const;
  // Describes how the last Decide came about; appends to what is in `reason` already.
  virtual void Explain(Reason& reason) const = 0;

  // Why the last Decide left the count as it was though nothing was missing, for people: what it computes is no
  // number of tasks. "", as by default: it decided, or something was missing.
  virtual std::string NoNumber() const;

  // A copy with the same state.
  virtual std::unique_ptr<ReplicaPolicy> Clone() const = 0;
  // The state without the settings, appended. Load reads what Save of a policy with the same settings wrote;
  // further decisions are those of the saved policy. On error (DataLoss: bytes that Save cannot have written;
  // InvalidArgument: the state of other settings) the policy is unchanged.
  virtual void Save(ByteWriter& out) const = 0;
  virtual absl::Status Load(ByteReader& in) = 0;
  // Object and heap.
  virtual size_t state_bytes() const = 0;
};

}  // namespace taut::brain
