// Simulates a thousand agents: each agent has its own connection to a real tautd, with tasks, windows,
// heartbeats, and answers to orders. bench/agent_swarm.py starts the daemon and this program, and prints the
// table.
//
//   agent_swarm --to HOST:PORT [--agents 1000] [--tasks 20] [--jobs 4000] [--period 10] [--windows 12]
//               [--warmup 10]
//
// A window of 300 s passes in --period seconds, and heartbeats are faster by the same factor. The agents send
// each window within a second, as machines with correct clocks do. Prints "begin" after the warm-up, then one
// line per figure, `what|number|unit|budget` ("-": none), then "end".
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <queue>
#include <string>
#include <vector>

#include "common/base/byte_units.h"
#include "common/base/random.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/histogram/grid.h"
#include "fmt/format.h"
#include "node/agent/uplink.h"
#include "tools/programs/process.h"

namespace taut {
namespace {

namespace pb = taut::agent::v1;

struct Args {
  std::string to;
  int agents = 1000, tasks = 20, jobs = 4000, windows = 12, warmup = 10;
  double period_s = 10;
};

constexpr double kBeatS = 10;    // interval of heartbeats, in seconds of node time
constexpr double kSpreadS = 1;   // maximum delay of an agent's window, in seconds of real time
constexpr double kGraceS = 120;  // grace of the daemon (ingest.grace), in seconds of node time
constexpr int64_t kPollUs = 5000;

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void Say(std::string_view what, double value, std::string_view unit, std::string_view budget = "-") {
  fmt::print("{}|{:.6g}|{}|{}\n", what, value, unit, budget);
  std::fflush(stdout);
}

double At(std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  return sorted[std::min(sorted.size() - 1, static_cast<size_t>(share * static_cast<double>(sorted.size())))];
}

struct Task {
  pb::TaskName name;
  double cores = 0, bytes = 0;  // current usage
};

struct Agent {
  std::unique_ptr<node::Uplink> uplink;
  std::vector<Task> tasks;
  int32_t next_window = 0;
  double spread_s = 0;  // delay between a window's end and its message
  // Time since which the agent's window waits for an acknowledgement; < 0: no window waits.
  double awaited_s = -1;
  double closes_s = 0;  // earliest time at which the waiting window can be stored
};

class Swarm {
 public:
  explicit Swarm(const Args& args)
      : args_(args), speed_(kWindowSeconds / args.period_s), epoll_(epoll_create1(EPOLL_CLOEXEC)) {}
  ~Swarm() {
    agents_.clear();
    close(epoll_);
  }

  int Run() {
    if (!Connect()) return 1;
    start_s_ = Seconds();
    // Node time starts at the beginning of a window, so that the first window is complete.
    start_node_s_ = (WallSeconds() / kWindowSeconds + 1) * kWindowSeconds;
    for (size_t i = 0; i < agents_.size(); ++i) {
      agents_[i].next_window = static_cast<int32_t>(start_node_s_ / kWindowSeconds);
      SendTasks(agents_[i]);
      const double beat_s = kBeatS / speed_;
      due_.push({start_s_ + beat_s * random_.Uniform(), i, What::kBeat});
      due_.push({start_s_ + args_.period_s + agents_[i].spread_s, i, What::kWindow});
    }
    const double begin_s = start_s_ + args_.warmup * args_.period_s;
    const double end_s = begin_s + args_.windows * args_.period_s;
    double look_s = 0;
    while (Seconds() < end_s) {
      if (!measuring_ && Seconds() >= begin_s) Begin();
      Due();
      Wait();
      const double now = Seconds();
      if (now < look_s) continue;
      look_s = now + static_cast<double>(kPollUs) / 1e6;
      Look(now);
    }
    Tell();
    return 0;
  }

 private:
  enum class What : uint8_t { kBeat, kWindow };
  struct Due_ {
    double at_s;
    size_t agent;
    What what;
    bool operator<(const Due_& other) const { return at_s > other.at_s; }
  };

  static int64_t WallSeconds() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(since).count();
  }
  int64_t NodeUs(double at_s) const {
    return start_node_s_ * kMicrosPerSecond +
           static_cast<int64_t>((at_s - start_s_) * speed_ * kMicrosPerSecond);
  }

  bool Connect() {
    agents_.resize(static_cast<size_t>(args_.agents));
    for (size_t i = 0; i < agents_.size(); ++i) {
      node::UplinkOptions options;
      options.address = args_.to;
      options.hello.set_agent(fmt::format("node-{:04}", i));
      options.hello.set_host(options.hello.agent());
      options.hello.set_version("swarm");
      options.hello.set_cores(16);
      options.hello.set_memory_bytes(64 * kGiB);
      options.hello.set_speed(speed_);
      auto uplink = node::ConnectUplink(options);
      if (!uplink.ok()) return fmt::print(stderr, "agent_swarm: {}\n", Message(uplink.status())), false;
      agents_[i].uplink = *std::move(uplink);
      agents_[i].spread_s = kSpreadS * random_.Uniform();
      epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
      epoll_ctl(epoll_, EPOLL_CTL_ADD, agents_[i].uplink->wake_fd(), &event);
      for (int t = 0; t < args_.tasks; ++t) AddTask(i, t);
    }
    const double begin_s = Seconds();
    for (const Agent& agent : agents_) {
      while (!agent.uplink->status().connected) {
        if (Seconds() > begin_s + 60) {
          fmt::print(stderr, "agent_swarm: not all agents come in: {}\n", agent.uplink->status().error);
          return false;
        }
        usleep(1000);
      }
    }
    return true;
  }

  // Spreads the tasks of a job over the machines.
  void AddTask(size_t agent, int number) {
    const int job = (static_cast<int>(agent) * args_.tasks + number) % args_.jobs;
    Task& task = agents_[agent].tasks.emplace_back();
    task.name.set_job(fmt::format("team-{}/service-{}", job % 40, job));
    task.name.set_task(fmt::format("node-{:04}/service-{}-{}", agent, job, number));
    task.cores = 0.02 * std::exp2(5 * random_.Uniform());
    task.bytes = 64 * kMiB * std::exp2(5 * random_.Uniform());
  }

  void SendTasks(Agent& agent) {
    pb::FromAgent message;
    message.mutable_tasks()->set_all(true);
    for (const Task& task : agent.tasks) {
      pb::Task& out = *message.mutable_tasks()->add_started();
      *out.mutable_name() = task.name;
      out.set_managed(true);
      out.set_owner_cpu_cores(4 * task.cores);
      out.set_owner_memory_bytes(3 * task.bytes);
      out.set_cpu_cores(4 * task.cores);
      out.set_memory_bytes(3 * task.bytes);
    }
    message.set_now_us(NodeUs(Seconds()));
    agent.uplink->Send(std::move(message), node::Keep::kNo);
  }

  // Sends the agent's last ended window.
  void SendWindow(Agent& agent, double now_s) {
    const WindowId window{agent.next_window++};
    pb::FromAgent message;
    message.mutable_windows()->set_window(window.index);
    for (Task& task : agent.tasks) AddWindow(task, *message.mutable_windows()->add_tasks());
    message.set_now_us(NodeUs(now_s));
    agent.uplink->Send(std::move(message), node::Keep::kUntilAcknowledged);
    ++sent_;
    const double end_s = start_s_ + static_cast<double>(window.next().start_s() - start_node_s_) / speed_;
    if (agent.awaited_s >= 0) ++late_;
    agent.awaited_s = now_s;
    agent.closes_s = end_s + kGraceS / speed_;
  }

  void AddWindow(Task& task, pb::TaskWindow& out) {
    *out.mutable_name() = task.name;
    // Usage drifts, and 1 % of the windows have a jump by up to a factor of 2.
    const double jump = random_.Uniform() < 0.01 ? std::exp2(random_.Uniform(-1, 1)) : 1;
    task.cores = std::clamp(task.cores * jump * std::exp2(random_.Uniform(-0.1, 0.1)), 0.01, 4.0);
    task.bytes = std::clamp(task.bytes * jump * std::exp2(random_.Uniform(-0.05, 0.05)), 16 * kMiB, 8 * kGiB);
    out.set_cpu_mean_cores(static_cast<float>(task.cores));
    out.set_cpu_peak_cores(static_cast<float>(1.5 * task.cores));
    out.set_memory_mean_bytes(static_cast<float>(task.bytes));
    out.set_memory_peak_bytes(static_cast<float>(1.05 * task.bytes));
    constexpr int kBuckets = 12;
    const int first = std::max(0, Grid::Cpu().BucketOf(task.cores) - kBuckets / 2);
    for (int b = 0; b < kBuckets; ++b) {
      out.add_cpu_buckets(static_cast<uint32_t>(first + b));
      out.add_cpu_seconds(static_cast<float>(kWindowSeconds) / kBuckets);
    }
    out.set_owner_cpu_cores(4);
    out.set_owner_memory_bytes(static_cast<float>(8 * kGiB));
    out.set_cpu_periods(3000);
    out.set_cpu_throttled_periods(0);
  }

  void Due() {
    for (double now = Seconds(); !due_.empty() && due_.top().at_s <= now; now = Seconds()) {
      const Due_ due = due_.top();
      due_.pop();
      Agent& agent = agents_[due.agent];
      if (due.what == What::kWindow) {
        lag_s_ = std::max(lag_s_, now - due.at_s);
        SendWindow(agent, now);
        due_.push({due.at_s + args_.period_s, due.agent, What::kWindow});
        continue;
      }
      pb::FromAgent message;
      message.mutable_heartbeat()->set_tasks(static_cast<uint32_t>(agent.tasks.size()));
      // The time that an agent reports is the time up to which it has sent samples.
      message.set_now_us(NodeUs(std::max(start_s_, now - agent.spread_s)));
      agent.uplink->Send(std::move(message), node::Keep::kNo);
      ++beats_;
      due_.push({due.at_s + kBeatS / speed_, due.agent, What::kBeat});
    }
  }

  // Waits until a message is due or arrives.
  void Wait() {
    const double wait_ms = due_.empty() ? 1 : (due_.top().at_s - Seconds()) * 1000;
    epoll_event events[64];
    const int n = epoll_wait(epoll_, events, 64, std::clamp(static_cast<int>(wait_ms), 0, 2));
    for (int i = 0; i < n; ++i) Answer(agents_[events[i].data.u64]);
  }

  void Answer(Agent& agent) {
    pb::FromAgent message;
    for (const pb::ToAgent& to : agent.uplink->Take()) {
      for (const pb::Order& order : to.orders().orders()) {
        ++orders_;
        pb::Outcome& out = *message.mutable_outcomes()->add_outcomes();
        out.set_decision(order.decision());
        *out.mutable_name() = order.name();
        out.set_resource(order.resource());
        out.set_result(pb::Outcome::APPLIED);
        if (order.has_limit()) out.set_limit(order.limit());
      }
      terms_ += static_cast<uint64_t>(to.orders().terms_size());
    }
    if (agent.uplink->TakeConnected() && start_s_ > 0 && Seconds() > start_s_ + 5) {
      ++reconnects_;
      SendTasks(agent);
    }
    if (message.outcomes().outcomes_size() > 0) agent.uplink->Send(std::move(message), node::Keep::kNo);
  }

  void Look(double now) {
    uint64_t waiting = 0;
    for (Agent& agent : agents_) {
      if (agent.awaited_s < 0) continue;
      const uint64_t queued = agent.uplink->status().queued_messages;
      waiting += queued;
      if (queued > 0) continue;
      if (measuring_) {
        ack_s_.push_back(now - agent.awaited_s);
        after_close_s_.push_back(std::max(0.0, now - std::max(agent.awaited_s, agent.closes_s)));
      }
      agent.awaited_s = -1;
    }
    if (!measuring_) return;
    most_waiting_ = std::max(most_waiting_, waiting);
    // Just before a window's end, all messages of the previous window should be acknowledged.
    const double phase = std::fmod(now - start_s_, args_.period_s);
    if (phase > 0.98 * args_.period_s) most_left_ = std::max(most_left_, waiting);
  }

  void Begin() {
    measuring_ = true;
    sent_ = beats_ = orders_ = terms_ = late_ = 0;
    lag_s_ = 0;
    fmt::print("begin\n");
    std::fflush(stdout);
  }

  void Tell() {
    fmt::print("end\n");
    std::sort(ack_s_.begin(), ack_s_.end());
    std::sort(after_close_s_.begin(), after_close_s_.end());
    const auto count = [](uint64_t n) { return static_cast<double>(n); };
    const double seconds = args_.windows * args_.period_s;
    Say("messages of windows sent", count(sent_), "");
    Say("  acknowledged", static_cast<double>(ack_s_.size()), "");
    Say("  task-windows a second", count(sent_) * args_.tasks / seconds, "/s");
    Say("  most that waited at once", count(most_waiting_), "");
    Say("  not acknowledged when the next window ends, most", count(most_left_), "", "0");
    Say("heartbeats a second", count(beats_) / seconds, "/s");
    Say("from a window's sending to its acknowledgement, p50", At(ack_s_, 0.5), "s");
    Say("  p99", At(ack_s_, 0.99), "s");
    Say("  max", At(ack_s_, 1), "s");
    Say("  of it after its grace was over, p50", At(after_close_s_, 0.5), "s");
    Say("  p99", At(after_close_s_, 0.99), "s");
    Say("  max", At(after_close_s_, 1), "s");
    Say("orders answered, of each task", count(orders_), "");
    Say("connections lost", count(reconnects_), "", "0");
    Say("the swarm itself: a window sent too late by, most", lag_s_, "s");
  }

  const Args args_;
  const double speed_;
  const int epoll_;
  Rng random_{7};
  std::vector<Agent> agents_;
  std::priority_queue<Due_> due_;
  double start_s_ = 0;
  int64_t start_node_s_ = 0;
  bool measuring_ = false;
  uint64_t sent_ = 0, beats_ = 0, orders_ = 0, terms_ = 0, late_ = 0, reconnects_ = 0;
  uint64_t most_waiting_ = 0, most_left_ = 0;
  double lag_s_ = 0;
  std::vector<double> ack_s_, after_close_s_;
};

int Main(int argc, char** argv) {
  Args args;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view key = argv[i];
    const std::string value = argv[i + 1];
    if (key == "--to") args.to = value;
    if (key == "--agents") args.agents = std::stoi(value);
    if (key == "--tasks") args.tasks = std::stoi(value);
    if (key == "--jobs") args.jobs = std::stoi(value);
    if (key == "--windows") args.windows = std::stoi(value);
    if (key == "--warmup") args.warmup = std::stoi(value);
    if (key == "--period") args.period_s = std::stod(value);
  }
  if (args.to.empty() || args.agents < 1 || args.jobs < 1 || !(args.period_s > 0)) {
    fmt::print(stderr, "agent_swarm: give --to HOST:PORT; bench/agent_swarm.py does\n");
    return 2;
  }
  tools::RaiseDescriptorLimit();  // each agent needs two descriptors
  return Swarm(args).Run();
}

}  // namespace
}  // namespace taut

int main(int argc, char** argv) { return taut::Main(argc, argv); }
