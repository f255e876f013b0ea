// The daemon tautd: the store, the control plane, the components, and the loop that ticks them.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "server/agents/actuator_set.h"
#include "server/config/daemon_config.h"
#include "server/control/component.h"
#include "server/control/control_plane.h"
#include "server/control/daemon_clock.h"
#include "server/store/sample_log_file.h"
#include "server/store/store.h"
#include "tools/programs/components.h"
#include "tools/programs/program_log.h"

namespace taut::tools {

// Returns the fleet's settings. The settings state which of the configured actuators enforce limits.
brain::LiveSettings LiveSettingsOf(const server::DaemonConfig& config);

class Daemon {
 public:
  // Opens the store, restores its state, starts the components and listens. `config_path` is "" if there is no
  // configuration file. If a part fails, stops the parts that run and returns the error.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(const server::DaemonConfig& config,
                                                       const std::string& config_path);
  // Calls Stop().
  ~Daemon();

  // Applies the rules, job settings, recommenders, and the reloadable keys (DaemonSetting::reloads) of a new
  // configuration. Logs every other changed key, which requires a restart. REQUIRES: calls are not concurrent; the
  // loop may run.
  void Reload(const server::DaemonConfig& config);
  // Finishes requests in flight, decides and stores the windows that are due, and writes checkpoints. Further
  // calls have no effect.
  void Stop();
  // Returns the URL of the API, such as "http://127.0.0.1:7070/".
  std::string url() const { return components_.http->url(); }

 private:
  explicit Daemon(server::DaemonConfig config);
  absl::Status OpenStore();
  absl::Status MakeActuators();
  absl::Status StartControl();
  void SayWhatIsRestored(double seconds) const;
  void Loop();
  // Runs `tick`, with the components' work before and after the pass.
  absl::Status Pass(const std::function<absl::Status()>& tick);
  absl::Status TickPast(Timestamp through);
  void TickComponents(const absl::Status& stored);
  bool stopping();
  void Wait(std::chrono::milliseconds pause);

  server::DaemonConfig config_;
  ProgramLog log_;  // like clock_ and context_, must outlive all running parts
  server::DaemonClock clock_;
  server::DaemonContext context_;
  std::unique_ptr<server::Store> store_;
  server::History* history_ = nullptr;  // the object in store_
  // file in the store's folder; null if the store is in memory
  std::unique_ptr<server::SampleLogFile> samples_;
  server::ActuatorSet actuators_;
  std::unique_ptr<server::ControlPlane> control_;
  // Declared after control_ and its other dependencies, so that the components are destroyed first.
  Components components_;
  bool backfill_cut_ = false;          // true if a stop interrupted the backfill; written by the loop only
  std::optional<WindowId> looked_at_;  // last closed window that the loop has processed

  std::mutex mutex_;  // guards stopping_; used by wake_
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread loop_;
};

}  // namespace taut::tools
