// Tests a day of a cluster with every kind of fault. tautd is killed between any two writes, the store fails, and
// orders are lost or refused. Samples are late, owners opt out and in, and tasks grow into their limits. After
// every step:
//   (a) nothing is ordered for a workload that is opted out,
//   (b) no limit in force is outside its bounds,
//   (c) every kill is charged once, to the limit that the kernel had,
// and the actuator, the fleet, the store and the counts agree.
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <set>

#include "common/testing/temp_dir.h"
#include "common/testing/test_scale.h"
#include "server/control/chaos_cluster.h"
#include "server/control/clock_guard.h"
#include "server/control/control_fixture.h"
#include "server/control/set_one_fixture.h"

namespace taut::server {
namespace {

constexpr int64_t kChaosStart = ControlCell::kStart;

// A store whose process may end before or after any commit.
class MortalStore final : public ForwardingStore {
 public:
  MortalStore(ChaosProcess& process, Store& store) : ForwardingStore(store), process_(process) {}
  absl::Status Commit(const PassRecord& pass) override {
    if (process_.is_dead || fails) return absl::UnavailableError("the disk is full");
    if (dies_in > 0 && --dies_in == 0) {
      process_.is_dead = true;
      if (!dies_behind) return absl::UnavailableError("killed");
    }
    return ForwardingStore::Commit(pass);
  }

  bool fails = false, dies_behind = false;
  int dies_in = 0;

 private:
  ChaosProcess& process_;
};

// Settings in annotations, which are known once a watch has listed them.
class ChaosOwners final : public JobSettingsSource {
 public:
  explicit ChaosOwners(ChaosCluster& cluster) : cluster_(cluster) {}
  JobAnswer SettingsOf(const JobQuestion& question) override {
    const ChaosWorkload* const w = cluster_.Find(question.record.name);
    if (w == nullptr) return {};
    if (!is_synced) return {.state = JobAnswer::State::kUnknown};
    return {.state = JobAnswer::State::kKnown, .labels = w->annotations};
  }
  bool is_synced = false;

 private:
  ChaosCluster& cluster_;
};

class Chaos {
 public:
  static constexpr int kStepSeconds = 5;

  explicit Chaos(uint64_t seed)
      : random_(seed), cluster_(random_), mortal_(process_, store_), owners_(cluster_) {
    for (int i = 0; i < 6; ++i) NoteNew(cluster_.Create(i == 5));
    Start();
  }

  // Runs the next 5 seconds.
  void Step() {
    MakeTrouble();
    for (int i = 0; i < kStepSeconds; ++i, ++second_) {
      cluster_.Second(now_s());
      actuator_->Second(now_s());
      if (second_ % 30 == 7) Scrape();
    }
    Deliver();
    if (second_ < down_until_) return;
    if (control_ == nullptr) Start();
    const Timestamp now = TimeNow();
    if (guard_->waits()) return;
    const absl::Status ticked = control_->Tick(now);
    if (process_.is_dead) return Kill();
    if (ticked.ok()) NoteTold();
    Check();
  }
  // Runs without faults until all kills are reported.
  void Calm() {
    is_calm_ = true;
    mortal_.fails = false;
    mortal_.dies_in = 0;
    error_s_ = 0;
    for (ChaosWorkload& w : cluster_.workloads()) {
      for (ChaosPod& pod : w.pods) pod.grows_until_s = 0;
    }
    for (int i = 0; i < 1800 / kStepSeconds; ++i) Step();
  }
  void CheckEnd();
  bool failed() const { return ::testing::Test::HasFailure(); }
  int restarts() const { return restarts_; }
  size_t kills() const { return cluster_.kills().size(); }
  size_t decisions() { return Decisions().size(); }

 private:
  struct Known {
    bool out = false;            // true if tautd received the annotation and has acted on it
    std::vector<double> owners;  // recent limits in the template
    std::map<std::string, std::string> set_by_people;
  };

  int64_t now_s() const { return kChaosStart + second_; }
  Timestamp Wall() const { return Timestamp::FromSeconds(now_s() + error_s_); }
  Timestamp TimeNow() {
    const Timestamp now =
        guard_->Step(Wall(), static_cast<double>(second_), control_->ingest().samples.TakeSaid());
    if (guard_->shifted()) control_->ingest().time.Shift(now);
    if (guard_->was_wrong()) control_->ingest().time.GoBack(now);
    control_->ingest().time.Doubt(guard_->waits());
    return now;
  }
  void NoteNew(const ChaosWorkload& w) {
    Known& known = known_[w.job];
    known.out = w.opts_out();
    known.owners = {w.owner};
  }

  void Start() {
    process_.is_dead = false;
    error_s_ = 0;  // clock_guard_test.cc and tests/daemon/clock_test.py cover starts under a wrong clock
    mortal_.dies_in = 0;
    actuator_ = std::make_unique<ChaosActuator>(process_, cluster_, random_);
    owners_.is_synced = is_told_ = false;
    samples_ = *SampleLogFile::Open({.path = StrCat(dir_.path(), "/store.db")});
    ControlOptions options;
    brain::JobPolicy defaults;
    defaults.mode = Mode::kAuto;
    defaults.recommender = brain::Policy::kMovingWindow;
    defaults.change_period_s = 600;
    options.live.vertical.moving_window.min_history_s = 900;
    options.live.rules = *brain::PolicyRules::Compile({}, defaults);
    control_ = std::make_unique<ControlPlane>(
        options, *MappingRules::Compile(BuiltinRules(KubernetesJobs::kContainers)),
        ControlPlane::Parts{&mortal_, &store_, actuator_.get(), [] { return 0.0; }, samples_.get(), nullptr,
                            &owners_});
    control_->OnTick([this](const TickEvents& e) {
      for (const Decision& d : e.decisions) EXPECT_TRUE(told_.insert(d.id).second) << "told twice: " << d.id;
    });
    const absl::Status restored = control_->Restore();
    ASSERT_TRUE(restored.ok()) << restored;
    guard_ =
        std::make_unique<ClockGuard>(Wall(), static_cast<double>(second_), control_->ingest().time.before());
    synced_at_ = second_ + (starts_ == 0 ? 0 : random_.Below(20));
    ++starts_;
    start_seconds_.push_back(second_);
    if (starts_ > 1) Check();
  }
  void Kill() {
    control_.reset();
    samples_.reset();
    process_.is_dead = true;
    ++restarts_;
    down_until_ = second_ + (random_.OneIn(2) ? 0 : random_.Below(90));
  }
  void Scrape() {
    const int64_t late = random_.OneIn(12) ? random_.Below(80) : 0;
    bodies_.push_back({second_ + late, cluster_.Scrape(now_s())});
  }
  void Deliver() {
    if (control_ == nullptr) return;
    if (!owners_.is_synced && second_ >= synced_at_) Sync();
    std::deque<std::pair<int64_t, std::string>> left;
    for (auto& [due, body] : bodies_) {
      if (due <= second_ && control_->ingest().samples.Write(body, TimeNow(), 1 + due % 3).ok()) continue;
      left.emplace_back(due, std::move(body));
    }
    bodies_ = std::move(left);
  }
  // Simulates a watch that lists all workloads: tautd receives their annotations.
  void Sync() {
    owners_.is_synced = true;
    for (const ChaosWorkload& w : cluster_.workloads())
      control_->ingest().jobs.SetSettingLabels(w.job, w.annotations);
  }
  void Tell(const ChaosWorkload& w) {
    if (!w.opts_out()) known_[w.job].out = PersonOptsOut(w.job);
    if (control_ != nullptr && owners_.is_synced)
      control_->ingest().jobs.SetSettingLabels(w.job, w.annotations);
  }
  bool PersonOptsOut(const std::string& job) {
    const auto it = known_[job].set_by_people.find("mode");
    return it != known_[job].set_by_people.end() && it->second == "off";
  }
  // Notes that a tick has acted on all annotations that tautd received.
  void NoteTold() {
    if (!owners_.is_synced) return;
    is_told_ = true;
    for (const ChaosWorkload& w : cluster_.workloads()) {
      if (IsOut(w)) known_[w.job].out = true;
    }
  }
  // Returns true if the workload is opted out. Settings made by people take precedence over annotations.
  bool IsOut(const ChaosWorkload& w) {
    const auto& set = known_[w.job].set_by_people;
    const auto it = set.find("mode");
    return it != set.end() ? it->second == "off" : w.opts_out();
  }

  void MakeTrouble();
  void Grow();
  void ChangeSettings();
  void SetByPerson(ChaosWorkload& w);
  void Redeploy();

  void Check();
  void CheckOrders();
  void CheckBounds();
  void CheckKills();
  void CheckKillsOf(const std::string& job, const std::vector<OomRecord>& charged,
                    std::vector<ChaosKill> real);
  void CheckCharge(const std::string& job, const ChaosKill& kill, const OomRecord& oom);
  std::vector<Decision> Decisions() {
    DecisionQuery query;
    query.limit = 1'000'000;
    std::vector<Decision> out = *store_.Decisions(query, History::Reasons::kLeaveOut);
    std::ranges::reverse(out);
    return out;
  }
  // Returns the history of a job as human-readable text.
  std::string History(const std::string& job) {
    std::string out;
    for (const ChaosKill& kill : cluster_.kills()) {
      if (kill.job == job)
        StrAppend(&out, "\n  killed at ", kill.time_s - kChaosStart, " under ", kill.limit / 1048576,
                  " MiB: ", kill.pod);
    }
    for (const OomRecord& oom : Ooms()) {
      if (store_.Job(oom.job)->name == job)
        StrAppend(&out, "\n  stored: ", oom.kills, " at ", oom.time_s - kChaosStart, " under ",
                  oom.limit.value_or(-1) / 1048576, " MiB");
    }
    for (const Decision& d : Decisions()) {
      if (store_.Job(d.job)->name == job && d.target == Target(Resource::kMemory))
        StrAppend(&out, "\n  decision ", d.id, " at ", d.time_s - kChaosStart, " ", Name(d.kind), " ",
                  d.before.value_or(-1) / 1048576, " -> ", d.after.value_or(-1) / 1048576, " ",
                  Name(d.outcome), " at ", d.outcome_time_s - kChaosStart, ": ", d.sentence);
    }
    StrAppend(&out, "\n  starts of tautd:");
    for (const int64_t s : start_seconds_) StrAppend(&out, " ", s);
    return out;
  }
  std::vector<OomRecord> Ooms() { return *store_.Ooms(std::nullopt, INT64_MIN, 1'000'000); }
  ChaosWorkload& Any() {
    return cluster_
        .workloads()[static_cast<size_t>(random_.Below(static_cast<int64_t>(cluster_.workloads().size())))];
  }
  std::string When() const { return StrCat("second ", second_, ", start ", starts_); }

  const TempDir dir_;
  ChaosRandom random_;
  ChaosCluster cluster_;
  ChaosProcess process_;
  InMemoryStore store_;
  MortalStore mortal_;
  ChaosOwners owners_;
  std::unique_ptr<ChaosActuator> actuator_;
  std::unique_ptr<SampleLogFile> samples_;
  std::unique_ptr<ControlPlane> control_;
  std::unique_ptr<ClockGuard> guard_;
  std::map<std::string, Known> known_;
  std::deque<std::pair<int64_t, std::string>> bodies_;
  std::set<uint64_t> told_;
  std::vector<int64_t> start_seconds_;
  int64_t second_ = 0, down_until_ = 0, synced_at_ = 0, error_s_ = 0;
  size_t checked_ooms_ = 0;
  int restarts_ = 0, starts_ = 0;
  bool is_calm_ = false, is_told_ = false;
};

void Chaos::MakeTrouble() {
  if (is_calm_) return;
  const auto every = [this](int seconds) { return random_.OneIn(seconds / kStepSeconds); };
  if (every(120)) Grow();
  if (every(900)) ChangeSettings();
  if (every(2400)) Redeploy();
  if (every(7200)) NoteNew(cluster_.Create(random_.OneIn(2)));
  if (every(1800)) mortal_.fails = !mortal_.fails;
  if (mortal_.fails && every(60)) mortal_.fails = false;
  if (every(7200)) {
    constexpr int64_t kErrors[] = {0, 45, -45, 900, -900, 7200, -86'400, 365 * 86'400};
    error_s_ = kErrors[random_.Below(8)];
  }
  if (control_ == nullptr) return;
  if (every(3600)) Kill();
  if (control_ != nullptr && every(1200) && mortal_.dies_in == 0) {
    mortal_.dies_in = static_cast<int>(1 + random_.Below(6));
    mortal_.dies_behind = random_.OneIn(2);
  }
  if (control_ != nullptr && every(3600)) actuator_->dies_after_orders = true;
}

void Chaos::Grow() {
  ChaosWorkload& w = Any();
  for (ChaosPod& pod : w.pods) {
    if (!random_.OneIn(2)) continue;
    pod.growth = random_.Between(0.2, 20) * ChaosCluster::kMiB;
    pod.grows_until_s = now_s() + 5 + random_.Below(120);
  }
}

void Chaos::ChangeSettings() {
  ChaosWorkload& w = Any();
  const std::string bytes = StrCat(20 + random_.Below(400), "MiB");
  switch (random_.Below(6)) {
    case 0:
    case 1:
      w.Annotate("mode", w.opts_out() ? "" : random_.OneIn(2) ? "off" : "observe");
      break;
    case 2:
      w.Annotate("memory.lower", random_.OneIn(2) ? "" : bytes);
      break;
    case 3:
      w.Annotate("memory.upper", random_.OneIn(2) ? "" : bytes);
      break;
    default:
      return SetByPerson(w);
  }
  Tell(w);
}

void Chaos::SetByPerson(ChaosWorkload& w) {
  if (control_ == nullptr) return;
  const std::optional<JobId> id = control_->Find(w.job);
  if (!id.has_value()) return;
  const std::string key = random_.OneIn(2) ? "mode" : "memory.lower";
  auto& set = known_[w.job].set_by_people;
  std::string value;
  if (!set.contains(key)) value = key == "mode" ? "off" : StrCat(20 + random_.Below(200), "MiB");
  const absl::StatusOr<SettingChange> change = SetOne(*control_, *id, key, value, "owner");
  if (process_.is_dead) {
    // The store may have accepted the change before the process died.
    const auto stored = *store_.Settings(w.job, 1000);
    set.clear();
    for (auto it = stored.rbegin(); it != stored.rend(); ++it) {
      if (it->value.empty()) {
        set.erase(it->key);
      } else {
        set[it->key] = it->value;
      }
    }
    if (!IsOut(w)) known_[w.job].out = false;
    return Kill();
  }
  if (!change.ok()) return;
  if (value.empty()) {
    set.erase(key);
  } else {
    set[key] = value;
  }
  known_[w.job].out = known_[w.job].out && IsOut(w);
  if (key == "mode" && value == "off") known_[w.job].out = true;
}

void Chaos::Redeploy() {
  ChaosWorkload& w = Any();
  if (random_.OneIn(3)) {
    w.owner = std::ceil(w.base / ChaosCluster::kMiB * random_.Between(1.2, 6)) * ChaosCluster::kMiB;
    known_[w.job].owners.push_back(w.owner);
  }
  cluster_.Roll(w, actuator_->Held(w.job, Resource::kMemory), now_s());
}

// ---- invariants ----

void Chaos::Check() {
  CheckOrders();
  CheckBounds();
  CheckKills();
}

void Chaos::CheckOrders() {
  for (const ChaosWorkload& w : cluster_.workloads()) {
    const std::optional<JobId> id = control_->Find(w.job);
    if (!id.has_value()) continue;
    control_->Look(*id, [&](const brain::LiveJob& job) {
      for (const Resource r : kResources) {
        // No order exists for a decision that is not stored.
        if (!mortal_.fails) {
          EXPECT_EQ(actuator_->Held(w.job, r), job.of(r).gate.in_force)
              << When() << ": " << w.job << " " << Name(r) << ": held, in force" << History(w.job);
        }
        if (known_[w.job].out) {
          EXPECT_EQ(actuator_->Held(w.job, r), std::nullopt) << When() << ": " << w.job << " is opted out";
        }
      }
    });
  }
}

void Chaos::CheckBounds() {
  if (mortal_.fails || !is_told_) return;
  for (const JobView& view : control_->view()->jobs) {
    control_->Look(view.record->id, [&](const brain::LiveJob& job) {
      for (const Resource r : kResources) {
        const brain::GateState& gate = job.of(r).gate;
        if (!gate.in_force.has_value()) continue;
        const auto bounds = job.policy->AllowedBounds(r);
        EXPECT_GE(*gate.in_force, bounds.lower.value_or(0) * (1 - 1e-9))
            << When() << ": " << job.record->name << " " << Name(r)
            << " holds: " << std::string(job.of(r).hold) << History(job.record->name);
        EXPECT_LE(*gate.in_force, bounds.upper.value_or(1e18) * (1 + 1e-9))
            << When() << ": " << job.record->name << " " << Name(r)
            << " holds: " << std::string(job.of(r).hold) << History(job.record->name);
      }
    });
  }
}

// Pairs each stored kill with a kill by the kernel: a kill at the same time, or, for a stored kill without a time,
// a kill from shortly before.
void Chaos::CheckKills() {
  const std::vector<OomRecord> ooms = Ooms();
  if (ooms.size() == checked_ooms_) return;
  checked_ooms_ = ooms.size();
  std::map<uint32_t, std::vector<OomRecord>> by_job;
  for (auto oom = ooms.rbegin(); oom != ooms.rend(); ++oom) by_job[oom->job.value].push_back(*oom);
  for (const auto& [id, charged] : by_job) {
    const std::string job = store_.Job(JobId{id})->name;
    std::vector<ChaosKill> real;
    std::ranges::copy_if(cluster_.kills(), std::back_inserter(real),
                         [&](const ChaosKill& kill) { return kill.job == job; });
    CheckKillsOf(job, charged, std::move(real));
  }
}

void Chaos::CheckKillsOf(const std::string& job, const std::vector<OomRecord>& charged,
                         std::vector<ChaosKill> real) {
  // Greatest time from a kill to the time in its OOM record, seconds. A dated record may have the time of the
  // sample that reports the termination.
  constexpr int64_t kShownSeconds = 2, kUndatedSeconds = 420;
  std::vector<OomRecord> undated;
  const auto pair = [&](OomRecord oom, int64_t within_s) {
    for (; oom.kills > 0; --oom.kills) {
      // The OOM is paired with the newest kill. Among kills at the same time, a kill under the OOM's limit is
      // preferred.
      auto found = real.end();
      for (auto kill = real.begin(); kill != real.end() && kill->time_s <= oom.time_s; ++kill) {
        if (kill->time_s + within_s < oom.time_s) continue;
        const bool as_good = found == real.end() || found->time_s < kill->time_s || found->limit != oom.limit;
        if (as_good) found = kill;
      }
      if (found == real.end()) return oom.kills;
      CheckCharge(job, *found, oom);
      real.erase(found);
    }
    return uint64_t{0};
  };
  for (const OomRecord& oom : charged) {
    OomRecord left = oom;
    left.kills = pair(oom, kShownSeconds);
    if (left.kills > 0) undated.push_back(left);
  }
  for (const OomRecord& oom : undated) {
    EXPECT_EQ(pair(oom, kUndatedSeconds), 0U) << When() << ": " << job << ": no kill for the one stored of "
                                              << oom.time_s - kChaosStart << History(job);
  }
}

// A kill during the execution of an order is charged to the lower of the old and the new limit.
void Chaos::CheckCharge(const std::string& job, const ChaosKill& kill, const OomRecord& oom) {
  const auto same = [](double a, double b) { return std::abs(a - b) <= 0.01 * std::max(a, b); };
  const double charged = oom.limit.value_or(-1);
  if (same(charged, kill.limit)) return;
  const std::vector<double>& owners = known_[job].owners;
  const auto is_owners = [&](double limit) {
    return std::ranges::any_of(owners, [&](double owner) { return same(owner, limit); });
  };
  if (owners.size() > 1 && is_owners(charged) && is_owners(kill.limit)) return;
  bool in_flight = false;
  for (const Decision& d : Decisions()) {
    if (store_.Job(d.job)->name != job || d.target != Target(Resource::kMemory)) continue;
    // Some pods may have the ordered limit although the order failed.
    const int64_t end_s = d.outcome == Outcome::kApplied ? d.outcome_time_s + kStepSeconds : INT64_MAX;
    if (d.time_s - kStepSeconds > oom.time_s || end_s < kill.time_s - 360) continue;
    const auto is_side = [&](const std::optional<double>& side) {
      return side.has_value() ? same(*side, charged) : is_owners(charged);
    };
    in_flight = in_flight || is_side(d.before) || is_side(d.after);
  }
  EXPECT_TRUE(in_flight && charged < kill.limit)
      << When() << ": " << job << ": the kill at " << kill.time_s - kChaosStart << " under "
      << kill.limit / 1048576 << " MiB is charged to " << charged / 1048576 << History(job);
}

void Chaos::CheckEnd() {
  std::map<std::string, std::pair<size_t, size_t>> real;  // numbers of due and of all kills, by job
  for (const ChaosKill& kill : cluster_.kills()) {
    // The samples of the last scrapes may not have arrived yet.
    const bool is_reported = kill.is_shown && kill.time_s + 120 <= now_s();
    real[kill.job].first += is_reported ? 1 : 0;
    ++real[kill.job].second;
  }
  std::map<std::string, size_t> charged;
  for (const OomRecord& oom : Ooms()) charged[store_.Job(oom.job)->name] += oom.kills;
  for (const auto& [job, kills] : real) {
    EXPECT_GE(charged[job], kills.first) << job << History(job);
    EXPECT_LE(charged[job], kills.second) << job << History(job);
  }
}

void ADay(uint64_t seed) {
  SCOPED_TRACE(StrCat("TAUT_CHAOS_SEED=", seed));
  const int steps = Shortened(kDaySeconds / Chaos::kStepSeconds);
  Chaos chaos(seed);
  for (int i = 0; i < steps && !chaos.failed(); ++i) chaos.Step();
  if (!chaos.failed()) chaos.Calm();
  if (!chaos.failed()) chaos.CheckEnd();
  EXPECT_GT(chaos.restarts(), steps / 1000);
  EXPECT_GT(chaos.kills(), static_cast<size_t>(steps / 200)) << "the test is of something";
  EXPECT_GT(chaos.decisions(), static_cast<size_t>(steps / 500));
}

TEST(Chaos, ADayInWhichEverythingGoesWrong) {
  if (const char* const wanted = std::getenv("TAUT_CHAOS_SEED"); wanted != nullptr)
    return ADay(std::strtoull(wanted, nullptr, 10));
  for (const uint64_t seed : {1, 4, 6, 12}) ADay(seed);
}

}  // namespace
}  // namespace taut::server
