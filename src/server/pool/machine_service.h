// The machines of a running cell: what their tasks may use, reserve and use, what they will use at the most by
// the pool of all machines, and what of that came true. docs/algorithms/overcommit.md, "The machines of a
// running cell".
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
  double risk = 0.01;  // the ordered share of machine-days whose peak passes the prediction
  brain::ReservationSettings reservation;
  // A machine that was not there for this long is forgotten. More than the horizon of 24 h.
  int32_t forget_days = 14;
  // Of the pool; tests make them short.
  double history_days = 7, min_days = 20;
};

// The machines of one source as of now.
struct PlacementOf {
  std::string source;
  std::vector<PlacedMachine> machines;
};

// Thread-safe. Two machines of one name from two sources are two machines.
class MachineService {
 public:
  explicit MachineService(const MachineOptions& options);

  // Begins from nothing.
  void Clear();
  // A window that closed, with where tasks run now. Windows ascend: one that is not newer than the last is left
  // out, but for one of more than an hour before, with which all begins from nothing. At most 1 s for 5,000
  // machines with 100,000 tasks (machine_service_bench.cc).
  void OnWindow(const ClosedWindow& closed, std::vector<PlacementOf> placement);
  std::shared_ptr<const MachinesView> View() const;

  struct Detail {
    std::shared_ptr<const MachineView> machine;
    PerResource<Reason> reasons;  // of the prediction, by Resource
  };
  // `source` "": of any. NotFound; FailedPrecondition: several sources have a machine of this name.
  absl::StatusOr<Detail> Find(std::string_view name, std::string_view source) const;

  // All that a restart needs for the same figures, sealed (common/histogram/checkpoint.h).
  std::string SaveState() const;
  // Before the first OnWindow. Not OK: the bytes are damaged or of another version, and it begins from nothing.
  absl::Status LoadState(std::string_view bytes);

 private:
  struct Task {
    PerResource<brain::Reservation> reservations;
    PerResource<float> highest = kAllAbsent;  // usage
    PlacedAmounts asked, cap;                 // as last known
  };
  struct Machine {
    uint32_t number = 0;  // of the predictors
    brain::TaskStates<Task> tasks;
    PerResource<OpenPromise> promises;
    PerResource<PromiseCounts> kept;
    std::shared_ptr<MachineView> view;  // as published: changed only before that
    WindowId seen{INT32_MIN / 4};
  };
  using Key = std::pair<std::string, std::string>;  // name, source
  using Machines = std::map<Key, Machine>;

  // machine_state_file.cc
  static void SaveView(const MachineView& view, ByteWriter& out);
  static absl::StatusOr<std::shared_ptr<MachineView>> LoadView(ByteReader& in);
  static void SaveMachine(const Machine& machine, ByteWriter& out);
  static absl::Status LoadMachine(ByteReader& in, Machine& machine);
  absl::Status LoadAll(ByteReader& in);
  // All REQUIRE mutex_.
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
  std::vector<uint32_t> free_;  // numbers
  uint32_t next_number_ = 0;
  std::vector<std::string> sources_;  // in the order they were first seen
  PerResource<std::unique_ptr<brain::DurablePredictor>> predictors_;
  PromiseTotals promise_totals_;
  std::optional<WindowId> window_;

  mutable std::mutex view_mutex_;
  std::shared_ptr<const MachinesView> view_;
};

}  // namespace taut::server
