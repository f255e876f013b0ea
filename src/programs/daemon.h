// All the wiring of tautd: which store, actuator, clock and faces the control plane gets, its loop, and its
// end.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/statusor.h"
#include "actuate/agent_hub.h"
#include "api/api.h"
#include "config/daemon_config.h"
#include "control/control_plane.h"
#include "net/http_server.h"
#include "ports/store.h"
#include "programs/backfill_run.h"
#include "wire/agent_server.h"

namespace taut {

class Daemon {
 public:
  // Opens the store, goes on from where it was, listens. `config_path`: "" for none.
  static absl::StatusOr<std::unique_ptr<Daemon>> Start(const DaemonConfig& config,
                                                       const std::string& config_path);
  // Stop().
  ~Daemon();

  // Takes in the rules and settings of another configuration; says what only a restart would change.
  void Reload(const DaemonConfig& config);
  // Lets requests in flight finish, decides and stores what is due, writes checkpoints.
  void Stop();
  uint16_t port() const { return server_->port(); }
  // Where agents come; 0: nowhere.
  int agent_port() const { return agent_server_ ? agent_server_->port() : 0; }
  // "http://127.0.0.1:7070/".
  std::string url() const;

 private:
  explicit Daemon(DaemonConfig config) : config_(std::move(config)) {}
  absl::Status OpenStore();
  absl::Status StartControl();
  absl::Status StartServer(const std::string& config_path);
  absl::Status StartAgents();
  void Loop();
  void PrepareBackfill();
  bool stopping();

  DaemonConfig config_;
  std::unique_ptr<Store> store_;
  History* history_ = nullptr;  // the same object
  std::unique_ptr<Actuator> actuator_;
  AgentHub* hub_ = nullptr;  // the same object, if agents may come
  std::unique_ptr<ControlPlane> control_;
  std::unique_ptr<BackfillRun> backfill_;
  bool backfill_cut_ = false;  // by a stop; written by the loop
  std::unique_ptr<Api> api_;
  std::unique_ptr<HttpServer> server_;
  std::unique_ptr<AgentServer> agent_server_;

  std::mutex mutex_;  // over what follows
  std::condition_variable wake_;
  bool stopping_ = false;
  std::thread loop_;
};

}  // namespace taut
