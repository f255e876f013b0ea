// All agents of a cell as one actuator. Passes the agents' reports to a TaskIntake (the control plane), and
// sends orders to the agents that run the tasks. Uses gRPC only through the interface AgentServer.
//
// Threads: the server's threads call the functions of AgentListener. Any thread may call Agents, counts,
// MemoryNeeded and Placement. The control plane calls Apply. The thread of the daemon's loop calls all other
// functions. The intake is never called under mutex_, which is held only for a short time.
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

// A limit that an agent could not apply, as shown to people.
struct FailedOrder {
  int64_t time_s = 0;
  uint64_t decision = 0;
  std::string job, task;
  Resource resource = Resource::kCpu;
  std::string text;
};

// One agent, as shown to people.
struct AgentView {
  std::string name, host, version, hands;
  bool connected = false, observes = false;
  double cores = 0, memory_bytes = 0;
  uint32_t tasks = 0, managed_tasks = 0;
  double heard_s = 0;  // seconds since the agent's last message
  uint64_t queued_bytes = 0, dropped = 0;
  double cpu_share = 0;
  uint64_t resident_bytes = 0;
  uint64_t windows = 0, ooms = 0, applied = 0, failed = 0;
  // Number of rejected reports: reports on a task of another agent, or with figures above the size of the agent's
  // machine.
  uint64_t not_believed = 0;
  std::vector<FailedOrder> failures;  // failed orders, newest last
  int64_t heard_at_s = 0;             // time of the agent's last message, seconds since 1970; 0: unknown
};

// A stream that was rejected, as shown to people.
struct RefusedAgent {
  int64_t time_s = 0;
  std::string name, host, why;
};

// Memory that the tasks of a job need, as agents have found by probing.
struct NeededMemory {
  double bytes = 0;          // need of the task with the largest need
  uint32_t tasks = 0;        // number of tasks with a known need
  int64_t window_end_s = 0;  // end of the newest window with a known need

  bool operator==(const NeededMemory&) const = default;
};

struct AgentList {
  std::vector<AgentView> known;
  std::vector<RefusedAgent> refused;  // rejected streams, newest last
};

struct AgentHubCounts {
  uint64_t agents = 0, connected = 0, tasks = 0;
  uint64_t windows = 0, task_windows = 0, ooms = 0, repeats = 0, refused = 0;
  uint64_t orders = 0, applied = 0, failed = 0;
  uint64_t refused_agents = 0;  // streams whose name belongs to another agent
  uint64_t not_believed = 0;  // reports on a task of another agent, or with figures above the machine's size
  uint64_t unacknowledged = 0;  // messages received but not stored yet
  // PodTasksCounts::waiting and PodTasksCounts::dropped; 0 without PodTasks.
  uint64_t unknown_containers = 0, dropped_of_containers = 0;
  // Slowest and mean time from sending an order to a task's first report on it, over the last thousand reports,
  // milliseconds; 0 before the first report.
  double slowest_order_ms = 0, mean_order_ms = 0;
};

// One actuator for all agents. The first lines of this file document the threads.
class AgentHub final : public Actuator, public AgentListener, public PlacementSource {
 public:
  struct Options {
    // False: agents only report, and orders set no limits.
    bool apply = true;
    // Longest time for which windows are held back while agents resend kept messages, seconds. After the start of
    // tautd, windows are held back for a third of this time for all agents.
    double hold_s = 15;
    // Time after an agent's last message in which the agent's name stays reserved for the machine that used the
    // name first, seconds. Not used with certificates.
    double name_expiry_s = 900;
    std::function<double()> steady_s;
    std::function<Timestamp()> now;
    // Returns true for jobs whose limits another actuator applies: agents only report on these jobs. Empty
    // function: there are no such jobs.
    std::function<bool(const std::string& job)> elsewhere = {};
    std::string own_machine = {};  // this process's machine, in the format of Hello::machine; "": unknown
  };
  explicit AgentHub(Options options) : options_(std::move(options)), orders_by_task_(!options_.apply) {}
  // Sets the receiver of the reports. Call before the server starts, because the server may report agents at once.
  // The intake and the server must outlive all calls of the hub's functions.
  void SetIntake(TaskIntake* intake);
  void SetServer(AgentServer* server) { server_ = server; }

  // ---- the loop: BeginTick, the tick of the control plane, EndTick ----
  // Decides whether windows are held back. Called before the tick of the control plane.
  void BeginTick();
  // Acknowledges the messages that are stored now, and sends terms and orders to tasks that are new or were
  // marked by OnSettings. `ok`: true if the tick of the control plane succeeded.
  void EndTick(bool ok);
  // Call when a setting of the job changed: the terms and orders of its tasks are sent again. "": all jobs.
  void OnSettings(const std::string& job);

  // ---- Actuator ----
  std::string_view name() const override { return options_.apply ? "agents" : "dry_run"; }
  // Returns true if an agent may set the limits of one of the job's tasks.
  bool Claims(const TargetOrder& order) const override;
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override;
  std::vector<OutcomeUpdate> TakeOutcomes() override;
  // Returns the state of the known agents: name, host, version, machine, queue, time of the last message.
  // Agents that have been disconnected for a month are left out.
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

  // Returns the memory need of each job, or of `of_job` alone, from the last window of each agent that sent a
  // message in the last hour. A job is absent if none of its tasks is probed or no need was found yet. Needs
  // are not persisted: after a restart they are known from the next window on. O(agents + tasks).
  std::map<std::string, NeededMemory> MemoryNeeded(std::optional<std::string_view> of_job = {}) const;
  AgentList Agents() const;
  AgentHubCounts counts() const;

 private:
  struct Agent {
    std::string name;
    SessionId session = 0;  // present stream; 0: disconnected
    taut::agent::v1::Hello hello;
    double connected_s = 0, heard_s = 0;
    uint64_t queue = 0, taken = 0;  // taken: sequence of the last processed message
    // Position in a message of which only a part was processed: the message's sequence, and the number of its
    // tasks that are already processed.
    uint64_t part_of = 0;
    int parts = 0;
    uint64_t to_replay = 0;  // queued messages from before the connection that have not arrived yet
    // Memory need of the agent's tasks by job and task, in the window `needed_window`.
    std::map<AgentTable::Name, double> needed;
    int32_t needed_window = INT32_MIN;
    Unacknowledged unacknowledged;
    taut::agent::v1::Heartbeat heartbeat;
    uint64_t windows = 0, ooms = 0, applied = 0, failed = 0, not_believed = 0;
    std::deque<FailedOrder> failures;
    // True if the agent was restored after a restart. Then heard_s is a time of the earlier process's clock.
    bool remembered = false;
    int64_t heard_at_s = 0;
    // Serializes the messages of one agent: its old stream may still be in use when the new stream begins.
    // Locked before mutex_.
    std::mutex taking;
  };
  // A task whose terms and orders must be sent.
  struct Due {
    std::string job, name;
    AgentTable::Task task;
  };

  // Returns true if agents apply the limits of this job (to tasks that are managed).
  bool Applies(const std::string& job) const {
    return options_.apply && !(options_.elsewhere && options_.elsewhere(job));
  }
  void Send(SessionId session, taut::agent::v1::ToAgent message);
  void Close(SessionId session);
  void TakeTasks(SessionId session, const taut::agent::v1::Tasks& tasks);
  bool TakeOom(Agent& agent, const taut::agent::v1::Oom& oom);
  bool TakeTierAct(Agent& agent, const taut::agent::v1::TierAct& act);
  // ---- trust in reports (agent_identity.cc) ----
  // Returns "" if the stream may use the name in its hello, else the reason. REQUIRES: mutex_.
  std::string WhyNot(const taut::agent::v1::Hello& hello, const std::string& certificate_names) const;
  void CountUnbelieved(Agent& agent);
  // Returns an id of the clock of the agent's machine, which distinguishes times of different clocks; 0: the clock
  // of this process's own machine.
  uint64_t SenderOf(const taut::agent::v1::Hello& hello) const;
  // Makes `session` the agent's stream. Returns the agent's previous stream, 0 if there was none. REQUIRES:
  // mutex_.
  SessionId Attend(SessionId session, const taut::agent::v1::Hello& hello);
  // Adds a rejected stream to the list of rejected streams. REQUIRES: mutex_.
  void NoteRefused(const taut::agent::v1::Hello& hello, std::string why);
  // Returns the limit, or the size of the agent's machine if the size is less. REQUIRES: mutex_.
  double WithinMachine(const std::string& agent, Resource r, double limit) const;
  // Returns false if the message was not processed and must be resent. Sets `dropped` if no window of the message
  // will ever be stored.
  bool TakeWindows(Agent& agent, uint64_t sequence, const taut::agent::v1::Windows& windows, bool& dropped);
  // Stores the needs of the window for MemoryNeeded. REQUIRES: mutex_.
  static void NoteNeeded(Agent& agent, const taut::agent::v1::Windows& windows);
  // The agent's queue and the tick at the arrival of a message.
  struct Place {
    uint64_t queue = 0, tick = 0;
  };
  // Checks a message before it is processed. Returns nullopt if the message must not be processed, or was
  // already processed.
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

  // Serializes the sending of orders and terms, so that newer messages arrive last. Locked before mutex_.
  std::mutex send_mutex_;
  mutable std::mutex mutex_;
  double started_s_ = 0;
  uint64_t tick_ = 0, good_tick_ = 0;
  std::optional<double> hold_since_s_;
  std::map<std::string, Agent> agents_;  // agents by name
  absl::flat_hash_map<SessionId, std::string> sessions_;
  AgentTable agents_by_task_;
  OrderTable orders_by_task_;
  AgentHubCounts counts_;
  std::deque<RefusedAgent> refused_agents_;
};

}  // namespace taut::server
