#include "node/agent/agent_loop.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "common/base/process.h"
#include "common/base/strings.h"
#include "common/net/clocks.h"

namespace taut::node {
namespace {

constexpr uint64_t kUplinkKey = UINT64_MAX, kSignalKey = UINT64_MAX - 1;
constexpr int64_t kMillisecond = 1000;
constexpr int64_t kBeat = 10 * kMicrosPerSecond;
constexpr int kFlushMs = 2000;
constexpr int64_t kFirstConnectionUs = 3 * kMicrosPerSecond;
// Interval at which a lasting disconnection is logged again.
constexpr int64_t kStillDisconnectedUs = 600 * kMicrosPerSecond;

int64_t SteadyUs() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(since).count();
}

// Returns the time at which the sped-up clock began. The file keeps this time across restarts of the agent:
// otherwise the clock would go back at each restart.
int64_t BeginningOf(const std::string& state, int64_t wall_us) {
  const std::string path = StrCat(state, "/clock");
  int64_t begin = 0;
  if (std::ifstream(path) >> begin && begin > 0 && begin <= wall_us) return begin;
  std::ofstream(path) << wall_us << "\n";
  return wall_us;
}

// A periodic event. After a long stop the event is due once, not once for each missed interval.
struct Every {
  int64_t interval_us = 0, next_us = 0;
  bool Due(int64_t now_us) {
    if (now_us < next_us) return false;
    next_us += interval_us;
    if (next_us <= now_us) next_us = now_us + interval_us;
    return true;
  }
};

}  // namespace

AgentLoop::AgentLoop(Options options, DaemonLog& log)
    : options_(std::move(options)), log_(log), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}

AgentLoop::~AgentLoop() {
  if (epoll_ >= 0) close(epoll_);
}

void AgentLoop::Add(const Wakeup& wakeup, uint64_t key) {
  epoll_event event{};
  event.events = wakeup.epoll_events;
  event.data.u64 = key;
  if (epoll_ctl(epoll_, EPOLL_CTL_ADD, wakeup.fd, &event) != 0) {
    log_.Warn(StrCat("cannot wait for OOM kills of one task: ", std::strerror(errno),
                     "; they are seen when it is read"));
  }
}

void AgentLoop::Remove(int fd) { epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr); }

NodeTime AgentLoop::Now() const {
  const int64_t steady = SteadyUs();
  if (options_.speed == 1) return {steady, Timestamp{WallNow().us}};
  // A sped-up clock starts from the wall clock and then follows steady time.
  const auto since = static_cast<double>(steady - start_steady_us_) * options_.speed;
  return {steady, Timestamp{start_us_ + static_cast<int64_t>(since)}};
}

void AgentLoop::LogConnection(const UplinkStatus& status) {
  const std::string& daemon = options_.daemon_address;
  const int64_t now_us = SteadyUs();
  if (status.connected) {
    if (was_connected_ == true) return;
    log_.Act(LogLevel::kInfo, "connected", {{"daemon", daemon}, {"queued_messages", status.queued_messages}});
  } else {
    // The first connection takes some time: log no warning before kFirstConnectionUs.
    if (!was_connected_.has_value() && now_us - start_steady_us_ < kFirstConnectionUs) return;
    const bool is_news = was_connected_ != false || connection_error_ != status.error;
    if (!is_news && now_us - connection_logged_us_ < kStillDisconnectedUs) return;
    log_.Act(LogLevel::kWarning, "disconnected",
             {{"daemon", daemon},
              {"error", status.error.empty() ? "no answer yet" : status.error},
              {"queued_messages", status.queued_messages},
              {"text", "limits stay as they are; windows and OOM kills are queued"}});
  }
  was_connected_ = status.connected;
  connection_error_ = status.error;
  connection_logged_us_ = now_us;
}

void AgentLoop::LogAct(const AgentAct& act) {
  std::vector<LogField> fields = {{"job", act.job}, {"task", act.task}};
  if (act.resource.has_value()) {
    const bool cpu = *act.resource == Resource::kCpu;
    fields.push_back({"resource", Name(*act.resource)});
    fields.push_back({cpu ? "from_cores" : "from_bytes", act.from});
    fields.push_back({cpu ? "to_cores" : "to_bytes", act.to});
  }
  if (act.decision != 0) fields.push_back({"decision", act.decision});
  if (act.kills != 0) fields.push_back({"kills", act.kills});
  if (act.guard.has_value()) {
    const auto& [memory, task] = *act.guard;
    fields.push_back({"tier", Name(task.tier)});
    fields.push_back({"usage_bytes", task.usage});
    fields.push_back({"request_bytes", task.request});
    if (memory.has_value()) {
      fields.push_back({"free_bytes", memory->free});
      fields.push_back({"total_bytes", memory->total});
      fields.push_back({"pressure_some", memory->some});
      fields.push_back({"pressure_full", memory->full});
    }
  }
  if (!act.text.empty()) fields.push_back({"text", act.text});
  const bool warns = act.action == "oom_kill" || act.action == "limit_refused" ||
                     act.action == "task_killed" || act.action == "task_not_killed";
  log_.Act(warns ? LogLevel::kWarning : LogLevel::kInfo, act.action, fields);
}

void AgentLoop::Log(Agent& agent, const Uplink& uplink) {
  for (const auto& [about, what] : agent.errors()) {
    const auto it = logged_.find(about);
    if (it == logged_.end() || it->second != what) log_.Warn(StrCat(about, ": ", what));
  }
  for (const auto& [about, what] : logged_) {
    if (!agent.errors().contains(about)) log_.Info(StrCat(about, ": recovered"));
  }
  logged_ = agent.errors();
  if (!options_.daemon_address.empty()) LogConnection(uplink.status());
  for (const AgentAct& act : agent.TakeActs()) LogAct(act);
}

bool AgentLoop::WaitAndAct(Agent& agent, int64_t next_us) {
  int64_t wait_us = std::max<int64_t>(0, next_us - SteadyUs());
  // While kills are pending, read the counters every 2 ms: the kernel counts a kill within milliseconds.
  if (agent.wants_recheck()) wait_us = std::min(wait_us, 2 * kMillisecond);
  std::array<epoll_event, 64> events{};
  // Round the wait up: a wait rounded down to 0 would spin until the time is reached.
  const int n = epoll_wait(epoll_, events.data(), static_cast<int>(events.size()),
                           static_cast<int>((wait_us + kMillisecond - 1) / kMillisecond));
  // Recheck before the events: an event may replace the task whose kill is pending.
  if (agent.wants_recheck()) agent.Recheck(Now());
  bool stopping = false;
  for (int i = 0; i < n; ++i) {
    const uint64_t key = events[static_cast<size_t>(i)].data.u64;
    if (key == kSignalKey) {
      stopping = true;
    } else if (key == kUplinkKey) {
      agent.TakeOrders(Now());
    } else {
      agent.OnReady(key, Now());
    }
  }
  return stopping;
}

absl::Status AgentLoop::Run(Agent& agent, Uplink& uplink) {
  if (epoll_ < 0) return absl::InternalError(StrCat("epoll_create1 failed: ", std::strerror(errno)));
  start_us_ = WallNow().us;
  start_steady_us_ = SteadyUs();
  if (options_.speed != 1) {
    const int64_t begin = BeginningOf(options_.state, start_us_);
    start_us_ = begin + static_cast<int64_t>(static_cast<double>(start_us_ - begin) * options_.speed);
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  const int signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  Add({signal_fd, EPOLLIN}, kSignalKey);
  if (uplink.wake_fd() >= 0) Add({uplink.wake_fd(), EPOLLIN}, kUplinkKey);

  const int64_t start = SteadyUs();
  Every sample{options_.sample_ms * kMillisecond, start};
  Every find{options_.find_s * kMicrosPerSecond, start};
  // In a sped-up cell the agents' messages set the daemon's time, so heartbeats must be frequent.
  const int64_t beat_us = options_.speed > 1 ? std::max<int64_t>(kBeat / 50, sample.interval_us) : kBeat;
  Every beat{beat_us, start + beat_us / 2};
  Every log{kMicrosPerSecond, start};
  double cpu_before = CpuSeconds();
  int64_t beat_before = start;
  bool stopping = false;
  while (!stopping) {
    const NodeTime now = Now();
    if (find.Due(now.steady_us)) agent.Find(now);
    if (sample.Due(now.steady_us)) agent.Sample(now);
    if (now.steady_us >= agent.guard_due_us()) agent.GuardAgain(now);
    if (beat.Due(now.steady_us)) {
      const double cpu = CpuSeconds();
      const double seconds = static_cast<double>(now.steady_us - beat_before) / 1e6;
      agent.Beat(seconds > 0 ? (cpu - cpu_before) / seconds : 0, ResidentBytes());
      cpu_before = cpu;
      beat_before = now.steady_us;
    }
    if (log.Due(now.steady_us)) Log(agent, uplink);
    const int64_t next =
        std::min({sample.next_us, find.next_us, beat.next_us, log.next_us, agent.guard_due_us()});
    stopping = WaitAndAct(agent, next);
  }
  agent.Stop(Now());
  Log(agent, uplink);
  uplink.Flush(kFlushMs);
  close(signal_fd);
  return absl::OkStatus();
}

}  // namespace taut::node
