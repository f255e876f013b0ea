#include "tools/programs/daemon.h"

#include <chrono>
#include <filesystem>
#include <functional>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/net/clocks.h"
#include "fmt/format.h"
#include "server/config/old_unit.h"
#include "server/store/in_memory_store.h"
#include "server/store/sqlite_store.h"

namespace taut::tools {
namespace {

constexpr std::chrono::milliseconds kTick{200};  // maximum delay until an OOM kill is processed
// tick for a clock that follows the samples and may advance fast
constexpr std::chrono::milliseconds kSampleTick{20};
constexpr std::chrono::milliseconds kStoreRetry{2000};

// Returns the directory of the store's file, in which other parts of the daemon store their files.
std::string StateDir(const std::string& store_path) {
  if (store_path == "memory") return std::filesystem::temp_directory_path();
  const std::string dir = std::filesystem::path(store_path).parent_path();
  return dir.empty() ? "." : dir;
}

}  // namespace

brain::LiveSettings LiveSettingsOf(const server::DaemonConfig& config) {
  brain::LiveSettings settings{config.recommenders, config.rules, config.migration};
  const bool by_agents = config.SetsThrough(server::ActuatorKind::kAgents);
  const bool in_cluster = config.SetsThrough(server::ActuatorKind::kKubernetes);
  settings.enforcement = by_agents && in_cluster ? brain::Enforcement::kByAgentsAndInKubernetes
                         : by_agents             ? brain::Enforcement::kByAgents
                         : in_cluster            ? brain::Enforcement::kInKubernetes
                                                 : brain::Enforcement::kNever;
  return settings;
}

Daemon::Daemon(server::DaemonConfig config)
    : config_(std::move(config)),
      clock_(config_.clock, {.wall = WallNow, .steady_s = SteadySeconds}, log_),
      context_{.log = &log_,
               .store_path = config_.store.path,
               .state_dir = StateDir(config_.store.path),
               .clock = config_.clock,
               .now = [this] { return clock_.Now(); },
               .cell_now = [this] { return clock_.CellNow(); },
               .clock_doubt = [this] { return clock_.Doubt(); },
               .stopping = [this] { return stopping(); },
               .wait = [this](std::chrono::milliseconds pause) { Wait(pause); }} {}

absl::StatusOr<std::unique_ptr<Daemon>> Daemon::Start(const server::DaemonConfig& config,
                                                      const std::string& config_path) {
  std::unique_ptr<Daemon> daemon(new Daemon(config));
  Daemon* const d = daemon.get();
  if (absl::Status s = d->OpenStore(); !s.ok()) return s;
  const DaemonHooks hooks{.config_path = config_path,
                          .started_s = WallNow().seconds(),
                          .clock = &d->clock_,
                          .tick_past = [d](Timestamp through) { return d->TickPast(through); }};
  if (absl::Status s = MakeComponents(d->config_, d->context_, d->history_, hooks, d->components_); !s.ok())
    return s;
  if (absl::Status s = d->MakeActuators(); !s.ok()) return s;
  if (absl::Status s = d->StartControl(); !s.ok()) return s;
  if (absl::Status s = d->components_.list.Start(); !s.ok()) return s;
  d->loop_ = std::thread([d] { d->Loop(); });
  return daemon;
}

Daemon::~Daemon() { Stop(); }

absl::Status Daemon::OpenStore() {
  const server::Retention keep{.history_days = config_.store.history_days,
                               .decision_days = config_.store.decision_days};
  if (config_.store.path == "memory") {
    auto store = std::make_unique<server::InMemoryStore>(keep);
    history_ = store.get();
    context_.states = &store->states();
    store_ = std::move(store);
    return absl::OkStatus();
  }
  server::SqliteStore::Options options;
  options.path = config_.store.path;
  options.keep = keep;
  absl::StatusOr<std::unique_ptr<server::SqliteStore>> store = server::SqliteStore::Open(options);
  if (!store.ok()) return store.status();
  history_ = store->get();
  context_.states = &(*store)->states();
  store_ = *std::move(store);
  absl::StatusOr<std::unique_ptr<server::SampleLogFile>> samples =
      server::SampleLogFile::Open({.path = config_.store.path});
  if (!samples.ok()) return samples.status();
  samples_ = *std::move(samples);
  return absl::OkStatus();
}

// Adds the actuators. If no actuator claims an order, the first actuator states why the order was not applied.
absl::Status Daemon::MakeActuators() {
  if (config_.agents.listen.empty() && !config_.SetsThrough(server::ActuatorKind::kKubernetes))
    actuators_.Add("dry_run", std::make_unique<server::DryRunActuator>());
  for (const auto& component : components_.list.all()) {
    absl::StatusOr<std::unique_ptr<server::Actuator>> actuator = component->MakeActuator();
    if (!actuator.ok()) return actuator.status();
    if (*actuator != nullptr) actuators_.Add(std::string(component->name()), *std::move(actuator));
  }
  return absl::OkStatus();
}

absl::Status Daemon::StartControl() {
  absl::StatusOr<server::MappingRules> mapping =
      server::MappingRules::Compile(server::MappingRulesOf(config_.ingest));
  if (!mapping.ok()) return mapping.status();
  server::ControlOptions options;
  options.ingest.ingest = config_.ingest.options;
  options.ingest.clock = config_.clock;
  if (config_.clock == ClockSource::kSamples) {
    // A clock that follows the samples may advance by days in seconds, and closing a day is slow. More windows
    // must therefore be able to wait than in real time.
    options.ingest.max_waiting_windows = options.ingest.max_open_windows = 2 * kWindowsPerDay;
    options.ingest.ingest.windows.max_samples_per_series = 16 * 1024;
  }
  options.live = LiveSettingsOf(config_);
  options.checkpoint_windows = config_.store.checkpoint_windows;
  options.jobs.forget_jobs_days = config_.store.forget_jobs_days;
  options.jobs.return_days = config_.store.history_days;
  server::ControlPlane::Parts parts{.store = store_.get(),
                                    .history = history_,
                                    .actuator = &actuators_,
                                    .steady_ms = [] { return SteadySeconds() * 1000; },
                                    .samples = samples_.get()};
  if (components_.external != nullptr) parts.external = components_.external->recommender();
  if (components_.cluster != nullptr) parts.owners = &components_.cluster->cluster();
  control_ = std::make_unique<server::ControlPlane>(options, *std::move(mapping), parts);
  context_.control = control_.get();
  const double start_s = SteadySeconds();
  if (absl::Status s = control_->Restore(); !s.ok()) return s;
  clock_.Begin(*control_, config_.clock_wait_s);
  SayWhatIsRestored(SteadySeconds() - start_s);
  return absl::OkStatus();
}

void Daemon::SayWhatIsRestored(double seconds) const {
  DaemonLog& log = *context_.log;
  for (const std::string& warning : control_->status().lost()) log.Warn(warning);
  std::vector<Workload> stored;
  for (const server::JobView& job : control_->view()->jobs) stored.push_back(job.record->workload());
  if (const std::string old = server::OldUnitNotice(stored, config_.ingest.kubernetes_jobs); !old.empty())
    log.Warn(old);
  if (const auto* file = dynamic_cast<const server::SqliteStore*>(store_.get()); file != nullptr) {
    for (const std::string& damage : file->damage()) log.Warn(damage);
  }
  if (const uint64_t samples = control_->ingest().log.replayed_samples(); samples > 0)
    log.Info(StrCat(samples, " samples of open windows restored"));
  log.Info(fmt::format("{} restored from {} in {:.1f} s", Counted(control_->view()->jobs.size(), "job"),
                       config_.store.path, seconds));
}

absl::Status Daemon::Pass(const std::function<absl::Status()>& tick) {
  components_.list.BeforePass();
  absl::Status s = tick();
  components_.list.AfterPass(s.ok());
  return s;
}

// Runs passes for windows in the past. Between passes, agents deliver the windows that they queued during an
// outage, and receive acknowledgements for stored windows. Repeats the pass as long as ingest holds back windows
// of the past.
absl::Status Daemon::TickPast(Timestamp through) {
  while (true) {
    (void)clock_.Step();
    absl::Status s = Pass([&] { return control_->Tick(through, brain::When::kPast); });
    if (!s.ok() || !control_->ingest().windows.holds()) return s;
    Wait(kTick);
    if (stopping()) return s;
  }
}

bool Daemon::stopping() {
  const std::lock_guard lock(mutex_);
  return stopping_;
}

void Daemon::Wait(std::chrono::milliseconds pause) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, pause, [this] { return stopping_; });
}

void Daemon::TickComponents(const absl::Status& stored) {
  server::LoopTurn turn{.stored = stored, .now = clock_.Now(), .steady_s = SteadySeconds()};
  if (const std::optional<WindowId> window = control_->view()->window; window != looked_at_) {
    turn.new_window = true;
    turn.new_hour = !looked_at_.has_value() ||
                    FloorDiv(window->index, kWindowsPerHour) != FloorDiv(looked_at_->index, kWindowsPerHour);
    looked_at_ = window;
  }
  components_.list.Tick(turn);
  for (const std::string& conflict : actuators_.TakeConflicts()) context_.log->Warn(conflict);
}

void Daemon::Loop() {
  clock_.Await(config_.store.path, context_.stopping, [this] { Wait(kTick); });
  backfill_cut_ = absl::IsCancelled(components_.backfill->Run());
  const std::chrono::milliseconds tick = config_.clock == ClockSource::kSamples ? kSampleTick : kTick;
  while (!stopping()) {
    const absl::Status s = Pass([this] { return control_->Tick(clock_.Step()); });
    TickComponents(s);
    Wait(s.ok() ? tick : kStoreRetry);
  }
}

void Daemon::Reload(const server::DaemonConfig& config) {
  server::Reloading reload{.next = config, .running = config_, .log = log_};
  control_->Reload(LiveSettingsOf(config));
  config_.recommenders = config.recommenders;
  config_.rules = config.rules;
  reload.Take("rules, defaults, migration, recommenders", {"migration"});
  components_.list.OnReload(reload);
  reload.Finish();
}

void Daemon::Stop() {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_) return;
    stopping_ = true;
  }
  wake_.notify_all();
  // Stop the loop first, so that no other thread runs a pass. From then on only this thread may tick the control
  // plane.
  if (loop_.joinable()) loop_.join();
  components_.list.Stop();
  if (!clock_.begun()) return;
  // After an interrupted backfill, the next start continues at the last closed window. Closing a later window now
  // would leave a gap.
  const Timestamp now = clock_.Step();
  const bool none = backfill_cut_ || !clock_.Doubt().empty();
  absl::Status s = none ? absl::OkStatus() : control_->Tick(now);
  if (s.ok()) s = control_->CheckpointAll();
  components_.list.Save();
  if (s.ok()) {
    log_.Info(StrCat("stopped; ", control_->view()->jobs.size(), " jobs are in the store"));
  } else {
    log_.Error(StrCat("stopped, but without a last checkpoint: ", Message(s)));
  }
}

}  // namespace taut::tools
