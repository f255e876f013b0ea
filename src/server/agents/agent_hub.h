// All agents of a cell as one actuator: what they report goes to a TaskIntake (the control plane), orders go to
// the agents that have the tasks. Knows nothing of gRPC beyond the interface AgentServer.
//
// Threads: the listener's calls come from the server's threads; everything else from the thread that ticks,
// but for Agents and counts, which any thread may ask, and Apply, which the control plane calls. The
// intake is never called under the hub's main lock, which is held for moments only.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "server/agents/agent_server.h"
#include "server/agents/agent_table.h"
#include "server/agents/order_table.h"
#include "server/agents/unacknowledged.h"
#include "server/control/actuator.h"
#include "server/control/placement.h"
#include "server/control/task_intake.h"

namespace taut::server {

// A limit that an agent did not apply, for people.
struct FailedOrder {
  int64_t time_s = 0;
  uint64_t decision = 0;
  std::string job, task;
  Resource resource = Resource::kCpu;
  std::string text;
};

// One agent, for people.
struct AgentView {
  std::string name, host, version, hands;
  bool connected = false, observes = false;
  double cores = 0, memory_bytes = 0;
  uint32_t tasks = 0, managed_tasks = 0;
  double heard_s = 0;  // seconds since it was last heard
  uint64_t queued_bytes = 0, dropped = 0;
  double cpu_share = 0;
  uint64_t resident_bytes = 0;
  uint64_t windows = 0, ooms = 0, applied = 0, failed = 0;
  // Of what it sent, not believed: of another agent's task, or more than its machine has.
  uint64_t not_believed = 0;
  std::vector<FailedOrder> failures;  // the newest last
  int64_t heard_at_s = 0;             // by the wall clock; 0: not known
};

// A stream that was not accepted, for people.
struct RefusedAgent {
  int64_t time_s = 0;
  std::string name, host, why;
};

// What the tasks of a job need, as agents have probed it.
struct NeededMemory {
  double bytes = 0;          // of the task that needs most
  uint32_t tasks = 0;        // of which it is known
  int64_t window_end_s = 0;  // of the newest window with one

  bool operator==(const NeededMemory&) const = default;
};

struct AgentList {
  std::vector<AgentView> known;
  std::vector<RefusedAgent> refused;  // the newest last
};

struct AgentHubCounts {
  uint64_t agents = 0, connected = 0, tasks = 0;
  uint64_t windows = 0, task_windows = 0, ooms = 0, repeats = 0, refused = 0;
  uint64_t orders = 0, applied = 0, failed = 0;
  uint64_t refused_agents = 0;  // streams under a name that is another's
  uint64_t not_believed = 0;  // tasks, windows and kills of another agent's task, or above the machine's size
  uint64_t unacknowledged = 0;  // messages taken in but not stored yet
  // As PodTasksCounts; 0 where nothing names containers of pods.
  uint64_t unknown_containers = 0, dropped_of_containers = 0;
  // From handing an order to the stream until its first outcome came back, the slowest of the last thousand.
  double slowest_order_ms = 0, mean_order_ms = 0;
};

class AgentHub final : public Actuator, public AgentListener, public PlacementSource {
 public:
  struct Options {
    // Limits are ordered; else agents only report.
    bool apply = true;
    // Windows are held back at the start and while agents bring what they kept, but not longer than this.
    double hold_s = 15;
    // Without certificates an agent's name belongs to the machine that used it first until this long after it
    // was heard last.
    double name_expiry_s = 900;
    std::function<double()> steady_s;
    std::function<Timestamp()> now;
    // Jobs whose limits another actuator applies: agents only report on them. Empty: none.
    std::function<bool(const std::string& job)> elsewhere = {};
    std::string own_machine = {};  // as Hello::machine, of this process; "": not known
  };
  explicit AgentHub(Options options) : options_(std::move(options)), orders_by_task_(!options_.apply) {}
  // `intake` before the server starts, which may report agents at once; then the server. Both must
  // outlive the last call.
  void SetIntake(TaskIntake* intake);
  void SetServer(AgentServer* server) { server_ = server; }

  // ---- the loop: BeginTick, the tick of the control plane, EndTick ----
  void BeginTick();
  // Acknowledges what is stored now, tells new tasks what holds for them. `ok`: of the Tick.
  void EndTick(bool ok);
  // A setting changed: orders for its job's tasks are sent again. "": all jobs.
  void OnSettings(const std::string& job);

  // ---- Actuator ----
  std::string_view name() const override { return options_.apply ? "agents" : "dry_run"; }
  // An agent may set the limits of one of its tasks.
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  // The agents known: name, host, version, when heard last. Those away for a month are forgotten.
  std::string SaveState() const override;
  void LoadState(std::string_view state) override;

  // ---- AgentListener ----
  void OnConnect(SessionId session, const taut::agent::v1::FromAgent& hello, const std::string& who) override;
  void OnMessage(SessionId session, const taut::agent::v1::FromAgent& message) override;
  void OnDisconnect(SessionId session) override;
  void OnRefused(SessionId session, uint64_t sequence, const absl::Status& why) override;

  // ---- PlacementSource: a machine for each agent ----
  std::string_view placement_name() const override { return "agents"; }
  std::vector<PlacedMachine> Placement() const override;

  // By job, of one or of all: as of the last window of each agent, of agents that were heard in the last
  // hour. A job is absent if no task of it is probed, or what it needs is not found yet. Lost by a restart
  // until the next window.
  std::map<std::string, NeededMemory> MemoryNeeded(std::optional<std::string_view> of_job = {}) const;
  AgentList Agents() const;
  AgentHubCounts counts() const;

 private:
  struct Agent {
    std::string name;
    SessionId session = 0;  // 0: away
    taut::agent::v1::Hello hello;
    double connected_s = 0, heard_s = 0;
    uint64_t queue = 0, taken = 0;  // the sequence taken in last
    // Of the windows of this message so many tasks are taken in already, and the rest was not.
    uint64_t part_of = 0;
    int parts = 0;
    uint64_t to_replay = 0;  // kept messages of before that have not come yet
    // What its tasks need, by job and task, of `needed_window`.
    std::map<AgentTable::Name, double> needed;
    int32_t needed_window = INT32_MIN;
    Unacknowledged unacknowledged;
    taut::agent::v1::Heartbeat heartbeat;
    uint64_t windows = 0, ooms = 0, applied = 0, failed = 0, not_believed = 0;
    std::deque<FailedOrder> failures;
    bool remembered = false;  // from before a restart; its heard_s is of no clock of now
    int64_t heard_at_s = 0;
    // One message of an agent at a time: its old stream may still be at work when the new one begins. Taken
    // before mutex_.
    std::mutex taking;
  };
  // What is sent for one task when its agent announces it.
  struct Due {
    std::string job, name;
    AgentTable::Task task;
  };

  // Whether agents apply limits of this job, if they may for its tasks.
  bool Applies(const std::string& job) const {
    return options_.apply && !(options_.elsewhere && options_.elsewhere(job));
  }
  void Send(SessionId session, taut::agent::v1::ToAgent message);
  void Close(SessionId session);
  void TakeTasks(SessionId session, const taut::agent::v1::Tasks& tasks);
  bool TakeOom(Agent& agent, const taut::agent::v1::Oom& oom);
  bool TakeTierAct(Agent& agent, const taut::agent::v1::TierAct& act);
  // ---- what is believed of whom (agent_identity.cc) ----
  // "" if the stream may speak under this name; else why not. REQUIRES: mutex_.
  std::string WhyNot(const taut::agent::v1::Hello& hello, const std::string& certificate_names) const;
  void CountUnbelieved(Agent& agent);
  // The agent's stream is this one now; returns the one before, 0 if none. REQUIRES: mutex_.
  uint64_t SenderOf(const taut::agent::v1::Hello& hello) const;
  SessionId Attend(SessionId session, const taut::agent::v1::Hello& hello);
  void NoteRefused(const taut::agent::v1::Hello& hello, std::string why);  // REQUIRES: mutex_
  // Nothing above what the task's machine has. REQUIRES: mutex_.
  double WithinMachine(const std::string& agent, Resource r, double limit) const;
  // False: not taken in, and to be sent again. `dropped`: none of it will ever be stored.
  bool TakeWindows(Agent& agent, uint64_t sequence, const taut::agent::v1::Windows& windows, bool& dropped);
  // REQUIRES: mutex_.
  static void NoteNeeded(Agent& agent, const taut::agent::v1::Windows& windows);
  // The first look at a message. nullopt: not to be taken in, or not again.
  struct Place {
    uint64_t queue = 0, tick = 0;
  };
  std::optional<Place> Receive(Agent& agent, SessionId session, uint64_t sequence);
  void Count(Agent& agent, const taut::agent::v1::FromAgent& message, const Place& place,
             std::optional<WindowId> window);
  void Leave(Agent& agent);
  void TakeOrder(const TargetOrder& o, int64_t now_s,
                 std::map<SessionId, taut::agent::v1::ToAgent>& messages);
  void TakeOutcome(Agent& agent, const taut::agent::v1::Outcome& outcome);
  Agent* AgentOf(SessionId session);
  void SendStanding();
  std::vector<Due> TakeDue();
  void AddStanding(const Due& due, const StandingTerms& standing, taut::agent::v1::Orders& out);

  const Options options_;
  TaskIntake* intake_ = nullptr;
  std::atomic<AgentServer*> server_ = nullptr;

  // Orders and what stands are sent one after the other, so that the newer comes last. Before mutex_.
  std::mutex send_mutex_;
  mutable std::mutex mutex_;
  double started_s_ = 0;
  uint64_t tick_ = 0, good_tick_ = 0;
  std::optional<double> hold_since_s_;
  std::map<std::string, Agent> agents_;  // by name
  absl::flat_hash_map<SessionId, std::string> sessions_;
  AgentTable agents_by_task_;
  OrderTable orders_by_task_;
  AgentHubCounts counts_;
  std::deque<RefusedAgent> refused_agents_;
};

}  // namespace taut::server
