// A control plane over a store in memory that receives the traffic of a Prometheus, for tests.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/control/control_plane.h"
#include "server/ingest/load_fixture.h"
#include "server/store/in_memory_store.h"
#include "server/store/sample_log_file.h"

namespace taut::server {

// Forwards all calls to another store, which must outlive it. Tests derive stores that change Commit.
class ForwardingStore : public Store {
 public:
  explicit ForwardingStore(Store& store) : store_(store) {}
  absl::Status Commit(const PassRecord& pass) override { return store_.Commit(pass); }
  absl::StatusOr<StoreEnds> Restore(const RestoreSink& sink) override { return store_.Restore(sink); }
  absl::Status ReadForgotten(int64_t from_s,
                             absl::FunctionRef<void(const JobRecord&, int64_t)> yield) override {
    return store_.ReadForgotten(from_s, yield);
  }
  absl::Status ReadPasts(absl::FunctionRef<void(JobId, PastState)> yield) override {
    return store_.ReadPasts(yield);
  }
  absl::Status ReadWindows(WindowId after,
                           absl::FunctionRef<absl::Status(const ClosedWindow&)> yield) override {
    return store_.ReadWindows(after, yield);
  }
  absl::StatusOr<bool> Maintain(WindowId now) override { return store_.Maintain(now); }

 private:
  Store& store_;
};

// Store that returns errors on request, like a full disk.
class FailingStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  bool fail = false;
  bool fail_checkpoints = false;  // true: commits of checkpoints fail if they follow the commit of the pass
  // Called at the start of each commit. Tests use it to act as another thread during the commit.
  std::function<void()> on_commit;

  absl::Status Commit(const PassRecord& pass) override {
    if (on_commit) on_commit();
    const bool refused = fail_checkpoints && pass.window == nullptr && !pass.checkpoints.empty();
    return fail || refused ? absl::UnavailableError("the disk is full") : ForwardingStore::Commit(pass);
  }
};

// A cell of `series` series, sampled each minute, from a Tuesday in 2023 on.
class ControlCell {
 public:
  static constexpr int64_t kStart = 1'700'006'400;  // start of the tests, a midnight

  // `store_path`: path beside which samples of open windows are stored; "" stores none.
  explicit ControlCell(uint32_t series = 80, std::string store_path = "", ControlOptions options = {})
      : scrape_(series), store_path_(std::move(store_path)), options_(std::move(options)), failing_(store_) {
    Start();
  }
  ControlCell(uint32_t series, ClockSource clock) : ControlCell(series, "", OfClock(clock)) {}

  // Destroys the control plane as a kill of tautd would, and creates another control plane on the same store.
  void Restart() {
    control_.reset();
    samples_.reset();
    Start();
  }
  static Timestamp Minute(int minute) { return Timestamp::FromSeconds(kStart + 60 * minute); }
  // Sends the minutes [from, to) after the start, with a tick after each.
  absl::Status Live(int from, int to) {
    absl::Status last;
    for (int minute = from; minute < to; ++minute) {
      const absl::Status sent = Send(minute, Minute(minute));
      if (!sent.ok()) last = sent;
      const absl::Status ticked = control_->Tick(Minute(minute));
      if (!ticked.ok()) last = ticked;
    }
    return last;
  }
  // Sends the samples of a minute, received at `now`.
  absl::Status Send(int minute, Timestamp now) {
    absl::Status last;
    for (const std::string& body : scrape_.Bodies(Minute(minute).us / 1000)) {
      const absl::StatusOr<WriteResult> r = control_->ingest().samples.Write(body, now);
      if (!r.ok()) last = r.status();
    }
    return last;
  }
  ControlPlane& control() { return *control_; }
  InMemoryStore& store() { return store_; }
  FailingStore& failing() { return failing_; }
  std::vector<Decision>& told() { return told_; }
  const absl::Status& restored() const { return restored_; }
  // Settings of the next start. `actuator`: null for a dry run.
  Actuator* actuator = nullptr;
  JobSettingsSource* owners = nullptr;
  Mode mode = Mode::kAuto;
  brain::Policy recommender = brain::Policy::kMovingWindow;

 private:
  static ControlOptions OfClock(ClockSource clock) {
    ControlOptions options;
    options.ingest.clock = clock;
    return options;
  }
  void Start() {
    if (!store_path_.empty()) samples_ = *SampleLogFile::Open({.path = store_path_});
    ControlOptions options = options_;
    brain::JobPolicy defaults;
    defaults.mode = mode;
    defaults.recommender = recommender;
    options.live.vertical.moving_window.min_history_s = 3600;
    options.live.rules = *brain::PolicyRules::Compile({}, defaults);
    control_ = std::make_unique<ControlPlane>(
        options, *MappingRules::Compile(BuiltinRules()),
        ControlPlane::Parts{&failing_, &store_, actuator != nullptr ? actuator : &dry_run_,
                            [] { return 0.0; }, samples_.get(), nullptr, owners});
    control_->OnTick(
        [this](const TickEvents& e) { told_.insert(told_.end(), e.decisions.begin(), e.decisions.end()); });
    restored_ = control_->Restore();
  }

  CadvisorScrape scrape_;
  const std::string store_path_;
  const ControlOptions options_;
  InMemoryStore store_;
  FailingStore failing_;
  DryRunActuator dry_run_;
  std::vector<Decision> told_;
  absl::Status restored_;
  std::unique_ptr<SampleLogFile> samples_;
  std::unique_ptr<ControlPlane> control_;
};

}  // namespace taut::server
