// A part of the daemon that runs beside its pass: agents, a cluster, quota, a webhook. The daemon starts, ticks,
// reloads and stops its components in one order (ComponentList), and knows nothing else of them.
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

namespace taut::server {

// What the daemon gives its components. It outlives them, and never changes once `control` is there.
struct DaemonContext {
  ControlPlane* control = nullptr;  // null until the first Start
  DaemonLog* log = nullptr;
  std::string store_path = {};  // "memory": there is no file
  std::string state_dir = {};   // for files that are not of the store; the store's folder, if it has one
  ClockSource clock = ClockSource::kWall;
  // All are thread-safe. The time that is believed (ClockGuard).
  std::function<Timestamp()> now = {};
  // Returns the same, or the samples' time where that is the cell's.
  std::function<Timestamp()> cell_now = {};
  // Returns one sentence why the time is not known; "" if it is.
  std::function<std::string()> clock_doubt = {};

  // Whether the daemon stops, and a wait that ends early when it does.
  std::function<bool()> stopping = {};
  std::function<void(std::chrono::milliseconds)> wait = {};

  // Path of a file beside the store, which ends with `suffix`; "" for the store "memory".
  std::string FileBeside(std::string_view suffix) const {
    return store_path == "memory" ? "" : StrCat(store_path, suffix);
  }
};

// One turn of the daemon's loop, after its pass.
struct LoopTurn {
  absl::Status stored;  // of the pass
  Timestamp now;
  double steady_s = 0;
  bool new_window = false, new_hour = false;  // since the turn before
};

// A reload of the configuration. `running` is what is in force: a component writes there what it takes over, and
// each key that still differs afterwards needs a restart.
struct Reloading {
  const DaemonConfig& next;
  DaemonConfig& running;
  DaemonLog& log;
  std::vector<std::string> taken = {};   // parts, for the log
  std::set<std::string_view> kept = {};  // keys of which Keep has told

  // Takes over the keys of these sections that reload (ReloadableOf).
  void Take(std::string_view part, std::initializer_list<std::string_view> sections);
  // Logs why a part stays as it is.
  void Keep(std::string_view part, std::initializer_list<std::string_view> sections,
            const absl::Status& status);
  // Logs what was taken over, and each key that needs a restart.
  void Finish() const;
};

// The loop's thread calls all but Collect and Warnings, which any thread may call from Start to Stop.
class Component {
 public:
  virtual ~Component() = default;
  // Name in errors and in other components' after(): "quota".
  virtual std::string_view name() const = 0;
  // Names of components that start before this one, if the daemon has them.
  virtual std::span<const std::string_view> after() const { return {}; }
  // Makes the actuator of the component, before the control plane; null: it has none. Called once.
  virtual absl::StatusOr<std::unique_ptr<Actuator>> MakeActuator() { return nullptr; }
  // Begins what the component does. The store is restored; no tick has been. An error ends the daemon's start.
  virtual absl::Status Start() { return absl::OkStatus(); }
  // Around each pass, also those of history. `stored`: the store took the pass.
  virtual void BeforePass() {}
  virtual void AfterPass(bool /*stored*/) {}
  virtual void Tick(const LoopTurn& /*turn*/) {}
  virtual void OnReload(Reloading& /*reload*/) {}
  // Puts the component's metrics.
  virtual void Collect(MetricsText& /*out*/) const {}
  // Adds sentences for people about what is wrong now.
  virtual void Warn(std::vector<std::string>& /*warnings*/) const {}
  // Ends threads and connections. Also without a Start. The last pass follows.
  virtual void Stop() {}
  // Writes the component's state after the last pass.
  virtual void Save() {}
};

// Owns the components of a daemon.
class ComponentList {
 public:
  // Adds one; null is ignored. Returns it. Before Start.
  template <typename T>
  T* Add(std::unique_ptr<T> component) {
    T* const added = component.get();
    if (added != nullptr) components_.push_back(std::move(component));
    return added;
  }
  std::span<const std::unique_ptr<Component>> all() const { return components_; }
  // Starts them in the order in which they were added, each behind those of its after(). Returns the first error,
  // without a start of the others. Internal: two wait for each other.
  absl::Status Start();
  void BeforePass();
  void AfterPass(bool stored);
  void Tick(const LoopTurn& turn);
  void OnReload(Reloading& reload);
  void Collect(MetricsText& out) const;
  std::vector<std::string> Warnings() const;
  // In the reverse order of the starts.
  void Stop();
  // Of those that have started.
  void Save();

 private:
  absl::Status PutInOrder();

  std::span<const std::unique_ptr<Component>> started() const { return all().first(started_); }

  std::vector<std::unique_ptr<Component>> components_;
  std::atomic<size_t> started_ = 0;  // of them, the first
};

}  // namespace taut::server
