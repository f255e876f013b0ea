// A part of the daemon that runs beside the control loop, such as agents, a cluster, quota or a webhook. The
// daemon starts, ticks, reloads and stops its components in one order (ComponentList), and depends on no other
// property of a component.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/clock_source.h"
#include "common/base/daemon_log.h"
#include "common/base/metrics_text.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "server/config/daemon_config.h"
#include "server/control/actuator.h"
#include "server/control/control_plane.h"
#include "server/store/states.h"

namespace taut::server {

// The daemon as its components use it. The context outlives the components and does not change after
// `control` is set.
struct DaemonContext {
  ControlPlane* control = nullptr;  // control plane; null until the first Start
  DaemonLog* log = nullptr;
  States* states = nullptr;     // the store's named states
  std::string store_path = {};  // path of the store; "memory" if there is no file
  std::string state_dir = {};   // folder for files outside the store; the store's folder if it has one
  ClockSource clock = ClockSource::kWall;
  // Returns the present time according to ClockGuard. `now` and all functions below are thread-safe.
  std::function<Timestamp()> now = {};
  // Returns the cell's time: the samples' time with `clock: samples`, else now().
  std::function<Timestamp()> cell_now = {};
  // Returns a sentence with the reason why the time is not known; "" if the time is known.
  std::function<std::string()> clock_doubt = {};

  // Returns true once the daemon stops.
  std::function<bool()> stopping = {};
  // Waits for a duration; returns early when the daemon stops.
  std::function<void(std::chrono::milliseconds)> wait = {};
};

// One iteration of the daemon's loop, after its pass.
struct LoopTurn {
  absl::Status stored;  // result of the pass
  Timestamp now;
  double steady_s = 0;
  // True if a window closed, or an hour began, since the previous iteration.
  bool new_window = false, new_hour = false;
};

// A reload of the configuration. Each component copies the values that it adopts from `next` to `running`. A
// key that differs after the reload needs a restart.
struct Reloading {
  const DaemonConfig& next;
  DaemonConfig& running;
  DaemonLog& log;
  std::vector<std::string> taken = {};   // names of the reloaded parts, for the log
  std::set<std::string_view> kept = {};  // keys for which Keep has logged the reason

  // Copies the reloadable keys of these sections (ReloadableOf) from `next` to `running`, for the part of
  // this name.
  void Take(std::string_view part, std::initializer_list<std::string_view> sections);
  // Logs the reason why a part keeps its old settings in these sections.
  void Keep(std::string_view part, std::initializer_list<std::string_view> sections,
            const absl::Status& status);
  // Logs the reloaded parts, and each key that needs a restart.
  void Finish() const;
};

// The loop's thread makes all calls except Collect and Warn. Any thread may call Collect and Warn between
// Start and Stop.
class Component {
 public:
  virtual ~Component() = default;
  // Returns the component's name, such as "quota". Errors and other components' after() use this name.
  virtual std::string_view name() const = 0;
  // Returns the names of components that must start first. Names of components that the daemon does not have are
  // ignored.
  virtual std::span<const std::string_view> after() const { return {}; }
  // Creates the component's actuator before the control plane exists; returns null if the component has none.
  // Called once.
  virtual absl::StatusOr<std::unique_ptr<Actuator>> MakeActuator() { return nullptr; }
  // Starts the component, after the store was restored and before the first tick. An error ends the start of
  // the daemon.
  virtual absl::Status Start() { return absl::OkStatus(); }
  // Called before each pass, including passes of history.
  virtual void BeforePass() {}
  // Called after each pass, including passes of history. `stored`: true if the store accepted the pass.
  virtual void AfterPass(bool /*stored*/) {}
  // Called once per iteration of the loop.
  virtual void Tick(const LoopTurn& /*turn*/) {}
  // Adopts changed settings, and calls Take or Keep for each part that reloads.
  virtual void OnReload(Reloading& /*reload*/) {}
  // Writes the component's metrics.
  virtual void Collect(MetricsText& /*out*/) const {}
  // Adds human-readable sentences about present problems.
  virtual void Warn(std::vector<std::string>& /*warnings*/) const {}
  // Ends the component's threads and connections. May be called without an earlier Start. One last pass follows.
  virtual void Stop() {}
  // Stores the component's state after the last pass.
  virtual void Save() {}
};

// Owns the components of a daemon and calls them in order.
class ComponentList {
 public:
  // Adds a component, before Start, and returns it; ignores null. O(1).
  template <typename T>
  T* Add(std::unique_ptr<T> component) {
    T* const added = component.get();
    if (added != nullptr) components_.push_back(std::move(component));
    return added;
  }
  std::span<const std::unique_ptr<Component>> all() const { return components_; }
  // Starts the components in the order of addition, each after the components that its after() names. Returns
  // the first error, and then starts no further component. Returns Internal if components wait for each other.
  absl::Status Start();
  // Each of the following functions calls all components. Collect and Warnings call only started components.
  void BeforePass();
  void AfterPass(bool stored);
  void Tick(const LoopTurn& turn);
  void OnReload(Reloading& reload);
  void Collect(MetricsText& out) const;
  std::vector<std::string> Warnings() const;
  // Stops all components in the reverse order of the starts.
  void Stop();
  // Saves the components that have started.
  void Save();

 private:
  absl::Status PutInOrder();

  std::span<const std::unique_ptr<Component>> started() const { return all().first(started_); }

  std::vector<std::unique_ptr<Component>> components_;
  std::atomic<size_t> started_ = 0;  // number of started components, which are the first in the list
};

}  // namespace taut::server
