// A cluster in memory for the chaos test. Its workloads have pods that use memory and are killed at the limit of
// their cgroup. Its actuator carries orders out late, fails or repeats them. The cluster produces the series that
// Prometheus sends.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "server/control/actuator.h"
#include "server/control/job_settings.h"
#include "server/ingest/load_fixture.h"

namespace taut::server {

class ChaosRandom {
 public:
  explicit ChaosRandom(uint64_t seed) : engine_(seed) {}
  int64_t Below(int64_t n) { return static_cast<int64_t>(engine_() % static_cast<uint64_t>(n)); }
  bool OneIn(int64_t n) { return Below(n) == 0; }
  double Between(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }

 private:
  std::mt19937_64 engine_;
};

// Amounts in bytes, times in seconds. A pod has one container.
struct ChaosPod {
  std::string name;
  double limit = 0;  // limit of the pod's cgroup, bytes
  double used = 0, peak = 0;
  double growth = 0;  // growth of usage, bytes per second
  int64_t grows_until_s = 0;
  double cpu_s = 0;
  bool runs = true, is_scraped = false;
  int restarts = 0, kills = 0, back_off_s = 10;
  int64_t ended_s = 0, starts_s = 0;
  int64_t due_s = 0;  // time at which the pod's pending order is carried out; 0 if none is planned
};

struct ChaosKill {
  std::string job, pod;
  int64_t time_s = 0;
  double limit = 0;  // limit of the pod's cgroup, bytes
  // False if the series do not show the kill: the pod was deleted before a scrape, or killed again before its
  // first scrape.
  bool is_shown = true;
};

struct ChaosWorkload {
  std::string job, name_space;
  int number = 0;
  double owner = 0;  // the limit in the workload's template
  double base = 0;   // bytes that the pods use in calm times
  std::vector<Label> annotations;
  std::vector<ChaosPod> pods;
  int generation = 0;

  bool opts_out() const {
    return std::ranges::any_of(annotations, [](const Label& label) {
      return label.first == StrCat(kSettingLabel, "mode") && label.second != "auto";
    });
  }
  void Annotate(const std::string& key, const std::string& value) {
    const std::string name = StrCat(kSettingLabel, key);
    std::erase_if(annotations, [&](const Label& label) { return label.first == name; });
    if (!value.empty()) annotations.emplace_back(name, value);
    std::ranges::sort(annotations);
  }
};

class ChaosCluster {
 public:
  static constexpr double kMiB = 1 << 20;

  explicit ChaosCluster(ChaosRandom& random) : random_(random) {}

  ChaosWorkload& Create(bool opts_out) {
    ChaosWorkload& w = workloads_.emplace_back();
    w.number = next_++;
    w.name_space = StrCat("shop-", w.number % 3);
    w.job = StrCat(w.name_space, "/deployment/web-", w.number, "/app");
    w.base = random_.Between(20, 200) * kMiB;
    w.owner = std::ceil(w.base / kMiB * random_.Between(1.2, 6)) * kMiB;
    if (opts_out) w.Annotate("mode", random_.OneIn(2) ? "off" : "observe");
    Roll(w, std::nullopt, 0);
    return w;
  }
  // Replaces all pods by new pods, which start with `limit`, as if a webhook had set it; absent: with the owner's
  // limit.
  void Roll(ChaosWorkload& w, std::optional<double> limit, int64_t now_s) {
    ++w.generation;
    w.pods.clear();
    // The series may show a kill only when the container restarts after the back-off.
    constexpr int64_t kBackOffSeconds = 330, kScrapeSeconds = 30;
    for (auto kill = kills_.rbegin(); kill != kills_.rend(); ++kill) {
      if (kill->time_s < now_s - kBackOffSeconds - kScrapeSeconds) break;
      if (kill->job == w.job) kill->is_shown = false;
    }
    const auto pods = 1 + random_.Below(3);
    for (int64_t i = 0; i < pods; ++i) {
      ChaosPod& pod = w.pods.emplace_back();
      pod.name = StrCat("web-", w.number, "-", w.generation, "-", i);
      pod.limit = limit.value_or(w.owner);
      pod.used = w.base / 2;
      pod.starts_s = now_s;
    }
  }
  // Advances the cluster by one second: usage grows, the kernel kills containers, and containers start again
  // after their back-off.
  void Second(int64_t now_s) {
    for (ChaosWorkload& w : workloads_) {
      for (ChaosPod& pod : w.pods) Second(w, pod, now_s);
    }
  }
  // Returns a remote-write request with the series of cAdvisor and kube-state-metrics.
  std::string Scrape(int64_t now_s) {
    std::vector<NamedSample> samples;
    for (ChaosWorkload& w : workloads_) {
      AddOwners(w, now_s, samples);
      for (ChaosPod& pod : w.pods) {
        AddSeries(w, pod, now_s, samples);
        pod.is_scraped = true;
      }
    }
    std::vector<RemoteSeries> series;
    series.reserve(samples.size());
    for (const NamedSample& s : samples) series.push_back(ViewOf(s));
    return EncodeWriteRequest(series);
  }
  ChaosWorkload* Find(const std::string& job) {
    const auto it = std::ranges::find(workloads_, job, &ChaosWorkload::job);
    return it == workloads_.end() ? nullptr : &*it;
  }
  std::vector<ChaosWorkload>& workloads() { return workloads_; }
  const std::vector<ChaosKill>& kills() const { return kills_; }

 private:
  void Second(const ChaosWorkload& w, ChaosPod& pod, int64_t now_s) {
    if (!pod.runs) {
      if (now_s < pod.starts_s) return;
      pod.runs = true;
      ++pod.restarts;
      pod.used = pod.peak = w.base / 2;
      pod.growth = 0;
    }
    pod.cpu_s += random_.Between(0.05, 0.4);
    if (now_s < pod.grows_until_s) {
      pod.used += pod.growth;
    } else {
      pod.used += (w.base * random_.Between(0.8, 1.1) - pod.used) / 20;
    }
    pod.peak = std::max(pod.peak, std::min(pod.used, pod.limit));
    if (now_s - pod.starts_s > 600) pod.back_off_s = 10;
    if (pod.used <= pod.limit) return;
    // The first scrape of a container reports the last termination, but not the number of earlier terminations.
    if (!pod.is_scraped) HideKillsOf(pod.name);
    kills_.push_back({w.job, pod.name, now_s, pod.limit});
    pod.runs = false;
    pod.ended_s = now_s;
    ++pod.kills;
    pod.used = 0;
    pod.grows_until_s = 0;
    pod.starts_s = now_s + pod.back_off_s;
    pod.back_off_s = std::min(pod.back_off_s * 2, 300);
  }
  void HideKillsOf(const std::string& pod) {
    for (auto kill = kills_.rbegin(); kill != kills_.rend(); ++kill) {
      if (kill->pod == pod) kill->is_shown = false;
    }
  }
  static void AddOwners(const ChaosWorkload& w, int64_t now_s, std::vector<NamedSample>& out) {
    const std::string deployment = StrCat("web-", w.number), set = StrCat(deployment, "-", w.generation);
    const auto add = [&](const char* metric, const char* kind, const std::string& owner, Label child) {
      NamedSample& s = out.emplace_back();
      s.labels = {{"__name__", metric}, {"namespace", w.name_space}, {"owner_is_controller", "true"},
                  {"owner_kind", kind}, {"owner_name", owner},       std::move(child)};
      s.sample = {1, now_s * 1000};
    };
    add("kube_replicaset_owner", "Deployment", deployment, {"replicaset", set});
    for (const ChaosPod& pod : w.pods) add("kube_pod_owner", "ReplicaSet", set, {"pod", pod.name});
  }
  static void AddSeries(const ChaosWorkload& w, const ChaosPod& pod, int64_t now_s,
                        std::vector<NamedSample>& out) {
    const auto add = [&](const char* metric, double value, Label more = {}) {
      NamedSample& s = out.emplace_back();
      s.labels = {{"__name__", metric}, {"container", "app"}, {"namespace", w.name_space}, {"pod", pod.name}};
      if (!more.first.empty()) s.labels.push_back(std::move(more));
      std::ranges::sort(s.labels);
      s.sample = {value, now_s * 1000};
    };
    if (pod.runs) {
      add("container_cpu_usage_seconds_total", pod.cpu_s, {"cpu", "total"});
      add("container_memory_working_set_bytes", pod.used);
      add("container_memory_max_usage_bytes", pod.peak);
    }
    add("kube_pod_container_resource_limits", pod.limit, {"resource", "memory"});
    add("kube_pod_container_status_restarts_total", pod.restarts);
    add("kube_pod_container_status_waiting", !pod.runs && now_s - pod.ended_s >= 2 ? 1 : 0);
    if (pod.kills == 0) return;
    // For some seconds the kubelet reports a termination as the present state, and then as the previous state.
    if (!pod.runs && now_s - pod.ended_s < 2) {
      add("kube_pod_container_status_terminated_reason", 1, {"reason", "OOMKilled"});
      if (pod.kills == 1) return;
    }
    add("kube_pod_container_status_last_terminated_reason", 1, {"reason", "OOMKilled"});
    add("kube_pod_container_status_last_terminated_timestamp", static_cast<double>(pod.ended_s));
  }

  ChaosRandom& random_;
  std::vector<ChaosWorkload> workloads_;
  std::vector<ChaosKill> kills_;  // kills, ascending by time
  int next_ = 0;
};

// A process of tautd that a test can kill. After the kill, the store of this process accepts nothing, and its
// actuator neither accepts orders nor reports outcomes.
struct ChaosProcess {
  bool is_dead = false;
};

// Stores the latest order of each job and target, as the actuators of a cluster do, and carries it out pod by
// pod. An order may fail, and the actuator retries it later.
class ChaosActuator final : public Actuator {
 public:
  ChaosActuator(ChaosProcess& process, ChaosCluster& cluster, ChaosRandom& random)
      : process_(process), cluster_(cluster), random_(random) {}

  std::string_view name() const override { return "chaos"; }
  bool Claims(const TargetOrder& /*order*/) const override { return true; }
  void Apply(std::span<const TargetOrder> orders, int64_t now_s) override {
    if (process_.is_dead) return;
    for (const TargetOrder& order : orders) Take(order, now_s);
    if (dies_after_orders) process_.is_dead = true;
  }
  std::vector<OutcomeUpdate> TakeOutcomes() override {
    return process_.is_dead ? std::vector<OutcomeUpdate>() : std::exchange(outcomes_, {});
  }
  std::string SaveState() const override {
    std::string state;
    ByteWriter out(&state);
    out.PutVarint(held_.size());
    for (const auto& [key, held] : held_) {
      out.PutString(key.first);
      out.Put<uint8_t>(key.second.code());
      out.PutVarint(held.decision);
      out.Put<uint8_t>(held.value.has_value() ? 1 : 0);
      out.Put(held.value.value_or(0));
      out.Put(static_cast<uint8_t>(held.known));
    }
    return state;
  }
  void LoadState(std::string_view state) override {
    ByteReader in(state);
    for (uint64_t left = in.GetVarint(); left > 0; --left) {
      const std::string job(in.GetString());
      const std::optional<Target> target = Target::FromCode(in.Get<uint8_t>());
      Standing held;
      held.decision = in.GetVarint();
      const bool has_value = in.Get<uint8_t>() != 0;
      const auto value = in.Get<double>();
      if (has_value) held.value = value;
      held.known = static_cast<Outcome>(in.Get<uint8_t>());
      if (in.failed() || !target.has_value()) return;
      held_.insert_or_assign({job, *target}, held);
    }
  }

  // Carries out the orders that are due.
  void Second(int64_t now_s) {
    if (process_.is_dead) return;
    for (auto& [key, held] : held_) {
      if (key.second == Target(Resource::kMemory)) {
        Enforce(key, held, now_s);
      } else {
        Report(key, held, Outcome::kApplied, now_s);
      }
    }
  }
  std::optional<double> Held(const std::string& job, Target target) const {
    const auto it = held_.find({job, target});
    return it == held_.end() ? std::nullopt : it->second.value;
  }
  // Returns true if all pods of the workload have the ordered value.
  bool IsSettled(const ChaosWorkload& w) const {
    const double wanted = Held(w.job, Resource::kMemory).value_or(w.owner);
    return std::ranges::all_of(w.pods, [&](const ChaosPod& pod) { return pod.limit == wanted; });
  }

  bool dies_after_orders = false;
  int fails_one_in = 15;

 private:
  using Key = std::pair<std::string, Target>;
  struct Standing {
    uint64_t decision = 0;
    std::optional<double> value;
    Outcome known = Outcome::kPending;
    int64_t retry_s = 0;
  };

  void Take(const TargetOrder& order, int64_t now_s) {
    const Key key{order.job, order.target};
    const auto before = held_.find(key);
    if (before != held_.end()) {
      if (before->second.decision > order.decision) return;
      if (before->second.decision == order.decision) return;
      if (!IsFinal(before->second.known))
        outcomes_.push_back({before->second.decision, Outcome::kSuperseded, "", 0});
    }
    held_.insert_or_assign(key, Standing{order.decision, order.value, order.known, 0});
    ChaosWorkload* const w = cluster_.Find(order.job);
    if (w == nullptr) return;
    for (ChaosPod& pod : w->pods) pod.due_s = now_s + random_.Below(8);
  }
  void Enforce(const Key& key, Standing& held, int64_t now_s) {
    ChaosWorkload* const w = cluster_.Find(key.first);
    if (w == nullptr || now_s < held.retry_s) return;
    const double wanted = held.value.value_or(w->owner);
    bool is_done = true;
    for (ChaosPod& pod : w->pods) {
      if (pod.limit == wanted) continue;
      is_done = false;
      if (pod.due_s == 0) pod.due_s = now_s + 1 + random_.Below(5);
      if (now_s < pod.due_s) continue;
      pod.due_s = 0;
      if (random_.OneIn(fails_one_in)) {
        held.retry_s = now_s + 60 + random_.Below(540);
        Report(key, held, Outcome::kFailed, now_s);
        return;
      }
      if (pod.runs && pod.used > wanted) continue;  // the kubelet refuses the new limit
      pod.limit = wanted;
    }
    if (is_done) Report(key, held, Outcome::kApplied, now_s);
  }
  void Report(const Key& /*key*/, Standing& held, Outcome outcome, int64_t now_s) {
    if (held.known == outcome) return;
    held.known = outcome;
    outcomes_.push_back({held.decision, outcome, "", now_s});
  }

  ChaosProcess& process_;
  ChaosCluster& cluster_;
  ChaosRandom& random_;
  std::map<Key, Standing> held_;
  std::vector<OutcomeUpdate> outcomes_;
};

}  // namespace taut::server
