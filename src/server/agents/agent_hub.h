// All agents of a cell as one actuator: their reports go to a TaskIntake (the control plane), and orders go
// to the agents that have the tasks. Of gRPC it uses only the interface AgentServer.
//
// Threads: the functions of AgentListener are called by the server's threads. Agents, counts, MemoryNeeded
// and Placement may be called from any thread; Apply is called by the control plane. All others belong to the
// thread that ticks. The intake is never called under mutex_, which is held only for moments.
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

// A limit that an agent could not apply, for people.
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
  double heard_s = 0;  // seconds since its last message
  uint64_t queued_bytes = 0, dropped = 0;
  double cpu_share = 0;
  uint64_t resident_bytes = 0;
  uint64_t windows = 0, ooms = 0, applied = 0, failed = 0;
  // Reports that were rejected: of another agent's task, or above the size of its machine.
  uint64_t not_believed = 0;
  std::vector<FailedOrder> failures;  // newest last
  int64_t heard_at_s = 0;             // seconds since 1970; 0: unknown
};

// A stream that was rejected, for people.
struct RefusedAgent {
  int64_t time_s = 0;
  std::string name, host, why;
};

// Memory that the tasks of a job need, as agents have probed it.
struct NeededMemory {
  double bytes = 0;          // of the task with the largest need
  uint32_t tasks = 0;        // number of tasks with a known need
  int64_t window_end_s = 0;  // end of the newest window with a known need

  bool operator==(const NeededMemory&) const = default;
};

struct AgentList {
  std::vector<AgentView> known;
  std::vector<RefusedAgent> refused;  // newest last
};

struct AgentHubCounts {
  uint64_t agents = 0, connected = 0, tasks = 0;
  uint64_t windows = 0, task_windows = 0, ooms = 0, repeats = 0, refused = 0;
  uint64_t orders = 0, applied = 0, failed = 0;
  uint64_t refused_agents = 0;  // streams whose name belongs to another agent
  uint64_t not_believed = 0;  // tasks, windows and kills of another agent's task, or above the machine's size
  uint64_t unacknowledged = 0;  // received but not stored yet
  // As in PodTasksCounts; 0 without PodTasks.
  uint64_t unknown_containers = 0, dropped_of_containers = 0;
  // Time from sending an order to its first outcome: slowest and mean of the last thousand.
  double slowest_order_ms = 0, mean_order_ms = 0;
};

// One actuator for all agents. The first lines of this file have the rules for threads.
class AgentHub final : public Actuator, public AgentListener, public PlacementSource {
 public:
  struct Options {
    // False: agents only report, and no limit is ordered.
    bool apply = true;
    // Longest time for which windows are held back at the start, and while agents resend what they kept.
    double hold_s = 15;
    // Without certificates, an agent's name stays with the machine that used it first until this time after
    // its last message.
    double name_expiry_s = 900;
    std::function<double()> steady_s;
    std::function<Timestamp()> now;
    // True for jobs whose limits another actuator applies: agents only report on them. Empty: for none.
    std::function<bool(const std::string& job)> elsewhere = {};
    std::string own_machine = {};  // as Hello::machine, of this process; "": unknown
  };
  explicit AgentHub(Options options) : options_(std::move(options)), orders_by_task_(!options_.apply) {}
  // Set the intake before the server starts, as the server may report agents at once. Both must outlive the
  // last call.
  void SetIntake(TaskIntake* intake);
  void SetServer(AgentServer* server) { server_ = server; }

  // ---- the loop: BeginTick, the tick of the control plane, EndTick ----
  void BeginTick();
  // Acknowledges what is stored now, and sends new tasks their terms and orders. `ok`: result of the Tick.
  void EndTick(bool ok);
  // Call when a setting changed: terms and orders of the job's tasks are sent again. "": all jobs.
  void OnSettings(const std::string& job);

  // ---- Actuator ----
  std::string_view name() const override { return options_.apply ? "agents" : "dry_run"; }
  // True if an agent may set the limits of one of the job's tasks.
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  // State of the known agents: name, host, version, machine, queue, time of the last message. Agents
  // disconnected for a month are left out.
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

  // Returns the need by job, of one job or all: from the last window of each agent that sent a message in the
  // last hour. A job is absent if none of its tasks is probed or no need was found yet. A restart loses it
  // until the next window. O(agents + tasks).
  std::map<std::string, NeededMemory> MemoryNeeded(std::optional<std::string_view> of_job = {}) const;
  AgentList Agents() const;
  AgentHubCounts counts() const;

 private:
  struct Agent {
    std::string name;
    SessionId session = 0;  // 0: disconnected
    taut::agent::v1::Hello hello;
    double connected_s = 0, heard_s = 0;
    uint64_t queue = 0, taken = 0;  // last sequence that was taken in
    // Position in an incomplete message: the sequence of its windows, and how many of its tasks are taken in
    // already.
    uint64_t part_of = 0;
    int parts = 0;
    uint64_t to_replay = 0;  // kept messages from before the connection that have not arrived yet
    // Need of its tasks by job and task, in `needed_window`.
    std::map<AgentTable::Name, double> needed;
    int32_t needed_window = INT32_MIN;
    Unacknowledged unacknowledged;
    taut::agent::v1::Heartbeat heartbeat;
    uint64_t windows = 0, ooms = 0, applied = 0, failed = 0, not_believed = 0;
    std::deque<FailedOrder> failures;
    bool remembered = false;  // restored after a restart: heard_s is of another clock
    int64_t heard_at_s = 0;
    // Serializes the messages of one agent: its old stream may still be at work when the new one begins.
    // Locked before mutex_.
    std::mutex taking;
  };
  // A task whose terms and orders are due.
  struct Due {
    std::string job, name;
    AgentTable::Task task;
  };

  // True if agents apply limits of this job (to tasks that are managed).
  bool Applies(const std::string& job) const {
    return options_.apply && !(options_.elsewhere && options_.elsewhere(job));
  }
  void Send(SessionId session, taut::agent::v1::ToAgent message);
  void Close(SessionId session);
  void TakeTasks(SessionId session, const taut::agent::v1::Tasks& tasks);
  bool TakeOom(Agent& agent, const taut::agent::v1::Oom& oom);
  bool TakeTierAct(Agent& agent, const taut::agent::v1::TierAct& act);
  // ---- trust in reports (agent_identity.cc) ----
  // Returns "" if the stream may use this name, else the reason. REQUIRES: mutex_.
  std::string WhyNot(const taut::agent::v1::Hello& hello, const std::string& certificate_names) const;
  void CountUnbelieved(Agent& agent);
  // Returns the id of the clock of the agent's machine, for comparing times; 0: this process's own.
  uint64_t SenderOf(const taut::agent::v1::Hello& hello) const;
  // Makes this the agent's stream. Returns the previous one, 0 if there was none. REQUIRES: mutex_.
  SessionId Attend(SessionId session, const taut::agent::v1::Hello& hello);
  void NoteRefused(const taut::agent::v1::Hello& hello, std::string why);  // REQUIRES: mutex_
  // Returns the limit, at most what the task's machine has. REQUIRES: mutex_.
  double WithinMachine(const std::string& agent, Resource r, double limit) const;
  // Returns false if the message was not taken in and must be resent. `dropped`: nothing of it will ever be
  // stored.
  bool TakeWindows(Agent& agent, uint64_t sequence, const taut::agent::v1::Windows& windows, bool& dropped);
  // REQUIRES: mutex_.
  static void NoteNeeded(Agent& agent, const taut::agent::v1::Windows& windows);
  // Checks a message before it is processed. Returns nullopt if it must not be taken in, or was already.
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

  // Orders and terms are sent one after the other, so that the newer arrives last. Locked before mutex_.
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
