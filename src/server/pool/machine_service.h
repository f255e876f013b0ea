// The machines of a running cell: limits, reservations and usage of their tasks, and a prediction of each
// machine's peak from the history of all machines. The service compares past predictions with the usage that
// followed. Source: docs/algorithms/overcommit.md, "The machines of a running cell".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "brain/overcommit/history.h"
#include "brain/overcommit/peak_predictor.h"
#include "brain/overcommit/reservation.h"
#include "common/model/closed_window.h"
#include "common/model/reason.h"
#include "server/control/placement.h"
#include "server/pool/machines_view.h"
#include "server/pool/promises.h"

namespace taut::server {

struct MachineOptions {
  double risk = 0.01;  // risk target: share of machine-days with a peak above the prediction
  brain::ReservationSettings reservation;
  // Time after which an absent machine is forgotten. Must exceed the horizon of 24 h.
  int32_t forget_days = 14;
  // Settings of the pool predictor, which tests shorten.
  double history_days = 7, min_days = 20;
};

// The current machines of one source.
struct PlacementOf {
  std::string source;
  std::vector<PlacedMachine> machines;
};

// Maintains the machines. Machines with the same name in two sources are two machines. Thread-safe.
class MachineService {
 public:
  explicit MachineService(const MachineOptions& options);

  // Deletes the whole state.
  void Clear();
  // Processes a closed window and the current placement of tasks. Ignores a window that is not later than the last
  // window. A window more than an hour before the last window sets the clock back, which deletes the whole state.
  // Takes at most 1 s for 5,000 machines with 100,000 tasks (machine_service_bench.cc).
  void OnWindow(const ClosedWindow& closed, std::vector<PlacementOf> placement);
  // Returns the latest snapshot; never null.
  std::shared_ptr<const MachinesView> View() const;

  struct Detail {
    std::shared_ptr<const MachineView> machine;
    PerResource<Reason> reasons;  // reasons of the predictions
  };
  // Returns a machine with explanations. `source` "": any source. Returns NotFound if there is no such machine,
  // and FailedPrecondition if several sources have a machine of this name.
  absl::StatusOr<Detail> Find(std::string_view name, std::string_view source) const;

  // Returns the whole state with a checksum (common/histogram/checkpoint.h).
  std::string SaveState() const;
  // Restores a state. Call before the first OnWindow(). Returns an error if the state is damaged or from another
  // version, and then leaves the service unchanged.
  absl::Status LoadState(std::string_view bytes);

 private:
  struct Task {
    PerResource<brain::Reservation> reservations;
    PerResource<float> highest = kAllAbsent;  // maximum usage
    PlacedAmounts asked, cap;                 // last known request and limit
  };
  struct Machine {
    uint32_t number = 0;  // number of the machine, its key in the predictors
    brain::TaskStates<Task> tasks;
    PerResource<OpenPromise> promises;
    PerResource<PromiseCounts> kept;
    std::shared_ptr<MachineView> view;  // published views are replaced, never changed
    WindowId seen{INT32_MIN / 4};
  };
  using Key = std::pair<std::string, std::string>;  // name and source of the machine
  using Machines = std::map<Key, Machine>;

  // ---- machine_state_file.cc ----
  static void SaveView(const MachineView& view, ByteWriter& out);
  static absl::StatusOr<std::shared_ptr<MachineView>> LoadView(ByteReader& in);
  static void SaveMachine(const Machine& machine, ByteWriter& out);
  static absl::Status LoadMachine(ByteReader& in, Machine& machine);
  absl::Status LoadAll(ByteReader& in);
  // REQUIRES (all functions below): mutex_ is locked.
  void Begin();
  Machine& At(const Key& key);
  struct Pass;
  void Take(Machine& machine, PlacedMachine placed, Pass& pass);
  void Measure(const PlacedTask& placed, Pass& pass, Task& task, MachineTaskView& view) const;
  void SumUp(const Machine& machine, Resource r, std::span<const brain::TaskLoad> loads,
             MachineView& view) const;
  void Predict(const Machine& machine, MachineView& view) const;
  void NotePromise(Machine& machine, const Pass& pass);
  void JudgePromises(WindowId window);
  void MakePromises(WindowId window);
  void Forget(WindowId window);
  void Publish();
  std::shared_ptr<const MachinesView> MakeView() const;

  const MachineOptions options_;
  mutable std::mutex mutex_;
  Machines machines_;
  std::vector<uint32_t> free_;  // numbers for new machines
  uint32_t next_number_ = 0;
  std::vector<std::string> sources_;  // names in the order of their first appearance
  PerResource<std::unique_ptr<brain::DurablePredictor>> predictors_;
  PromiseTotals promise_totals_;
  std::optional<WindowId> window_;

  mutable std::mutex view_mutex_;  // lock for view_ only, so that readers do not wait for a pass
  std::shared_ptr<const MachinesView> view_;
};

}  // namespace taut::server
