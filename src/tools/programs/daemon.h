// tautd: the store, the control plane, its components, and the loop that ticks them.
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

brain::LiveSettings LiveSettingsOf(const server::DaemonConfig& config);

class Daemon {
 public:
  // Opens the store, goes on from where it was, listens. `config_path`: "" for none.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(const server::DaemonConfig& config,
                                                       const std::string& config_path);
  // Stop().
  ~Daemon();

  // Takes over the rules, the settings of jobs, recommenders, and the keys of another configuration that reload
  // (DaemonSetting::reloads); logs each key that only a restart would change.
  void Reload(const server::DaemonConfig& config);
  // Lets requests in flight finish, decides and stores what is due, writes checkpoints.
  void Stop();
  // "http://127.0.0.1:7070/".
  std::string url() const { return components_.http->url(); }

 private:
  explicit Daemon(server::DaemonConfig config);
  absl::Status OpenStore();
  absl::Status MakeActuators();
  absl::Status StartControl();
  void SayWhatIsRestored(double seconds) const;
  void Loop();
  // One pass, with what the components do around it.
  absl::Status Pass(const std::function<absl::Status()>& tick);
  absl::Status TickPast(Timestamp through);
  void TickComponents(const absl::Status& stored);
  bool stopping();
  void Wait(std::chrono::milliseconds pause);

  server::DaemonConfig config_;
  ProgramLog log_;  // outlives all that runs, as the next two do
  server::DaemonClock clock_;
  server::DaemonContext context_;
  std::unique_ptr<server::Store> store_;
  server::History* history_ = nullptr;              // the same object
  std::unique_ptr<server::SampleLogFile> samples_;  // beside the store, if that is a file
  server::ActuatorSet actuators_;
  std::unique_ptr<server::ControlPlane> control_;
  Components components_;              // of control_ and what is above it
  bool backfill_cut_ = false;          // by a stop; written by the loop
  std::optional<WindowId> looked_at_;  // of the loop: the window closed last

  std::mutex mutex_;  // over what follows
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread loop_;
};

}  // namespace taut::tools
