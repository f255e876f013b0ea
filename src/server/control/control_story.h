// Runs events on a control plane, decoded from bytes: samples, agents' windows, OOM kills, settings, ticks,
// jumps of the clock, store errors, restarts. Used by a fuzzer and by a test of a few stories.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>

#include "server/control/control_fixture.h"

namespace taut::server {

class ControlStory {
 public:
  explicit ControlStory(ClockSource clock) : clock_(clock), cell_(20, clock) {}

  // Runs the events; aborts the process if an invariant is violated.
  void Live(std::span<const uint8_t> bytes) {
    bytes_ = bytes;
    while (!bytes_.empty()) Step();
    cell_.failing().fail = false;
    cell_.failing().on_commit = nullptr;
    for (int i = 0; i < 3; ++i) Require(cell_.control().Tick(Now()).ok(), __LINE__);
    CheckStore();
    cell_.Restart();
    Require(cell_.restored().ok(), __LINE__);
    Require(cell_.control().Tick(Now()).ok(), __LINE__);
    Read();
  }

 private:
  static void Require(bool holds, int line) {
    if (holds) return;
    std::fprintf(stderr, "control_story.h:%d: does not hold\n", line);
    std::abort();
  }
  uint8_t Next() {
    if (bytes_.empty()) return 0;
    const uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  Timestamp Now() const { return Timestamp::FromSeconds(now_s_); }
  Timestamp AnyTime() {
    constexpr int64_t kYear = 365 * kDaySeconds;
    switch (Next() % 8) {
      case 0:
        return Timestamp{INT64_MAX};
      case 1:
        return Timestamp{INT64_MIN};
      case 2:
        return Timestamp::FromSeconds(now_s_ + kYear);
      case 3:
        return Timestamp::FromSeconds(now_s_ - kYear);
      case 4:
        return Timestamp::FromSeconds(now_s_ - 60 * Next());
      default:
        return Now();
    }
  }

  void Step() {
    switch (Next() % 16) {
      case 0:
      case 1:
        return Window();
      case 2:
        return Kill();
      case 3:
        return Scrape();
      case 4:
      case 5:
      case 6:
        (void)cell_.control().Tick(Now());
        return;
      case 7:
      case 8:
        now_s_ += 60 * int64_t{Next()};
        return;
      case 9:
        return JumpOfClock();
      case 10:
        return Settings();
      case 11:
        cell_.failing().fail = !cell_.failing().fail;
        return;
      case 12:
        cell_.Restart();
        Require(cell_.restored().ok(), __LINE__);
        return;
      case 13:
        // Simulates another thread that reports a kill and reads during a commit.
        cell_.failing().on_commit = [this] {
          ++visitors_;
          (void)cell_.control().agents().TakeOom({"late/" + std::to_string(visitors_), "t", {}}, Now(), 1,
                                                 1e8, Now());
        };
        (void)cell_.control().Tick(Now());
        cell_.failing().on_commit = nullptr;
        return;
      case 14:
        cell_.control().agents().HoldWindows(Next() % 4 == 0);
        return;
      default:
        return Read();
    }
  }

  NamedTask Task() {
    const uint8_t byte = Next();
    job_ = "shop/job-" + std::to_string(byte % 8);
    task_ = "task-" + std::to_string(byte / 8 % 4);
    return {job_, task_, {}};
  }
  void Window() {
    const NamedTask task = Task();
    (void)cell_.control().agents().Announce(task, Now());
    ReportedWindow w;
    const uint8_t byte = Next();
    w.window = byte == 255 ? WindowId{INT32_MAX} : byte == 254 ? WindowId{INT32_MIN} : WindowId::Of(Now());
    if (byte < 64) w.window.index -= byte % 4;
    const float memory = 1e7F * static_cast<float>(1 + Next());
    w.figures.cpu_mean_cores = w.figures.cpu_peak_cores = 0.5F;
    w.figures.memory_mean_bytes = w.figures.memory_peak_bytes = memory;
    w.cpu_buckets = {{Grid::Cpu().BucketOf(0.5), 300}};
    w.memory_limit_bytes = 4e9F;
    if (clock_ == ClockSource::kSamples && byte >= 254) return;
    (void)cell_.control().agents().TakeWindow(task, std::move(w), Now());
  }
  void Kill() {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    constexpr std::optional<double> kLimits[] = {std::nullopt, 1e8, 3e8, 0.0, -1.0, kNan, HUGE_VAL, 1e9};
    const NamedTask task = Task();
    const Timestamp time = AnyTime();
    const uint8_t byte = Next();
    (void)cell_.control().agents().TakeOom(task, time, byte == 255 ? UINT64_MAX : 1, kLimits[byte % 8],
                                           Now());
  }
  void Scrape() {
    for (const std::string& body : scrape_.Bodies(now_s_ * 1000))
      (void)cell_.control().ingest().samples.Write(body, Now());
  }
  void JumpOfClock() {
    const uint8_t byte = Next();
    // Steps are at most 31 hours: a step of a year would make the store forget the history.
    now_s_ += (byte % 2 == 0 ? 1 : -1) * 3600 * int64_t{byte % 32};
    now_s_ = std::max(now_s_, ControlCell::kStart);
  }
  void Settings() {
    static constexpr std::pair<const char*, const char*> kSettings[] = {{"mode", "off"},
                                                                        {"mode", "observe"},
                                                                        {"mode", "canary"},
                                                                        {"mode", "auto"},
                                                                        {"recommender", "peak"},
                                                                        {"recommender", "vpa"},
                                                                        {"recommender", "moving_window"},
                                                                        {"cpu.recommender", "ensemble"},
                                                                        {"memory.recommender", "peak"},
                                                                        {"memory.upper", "1MiB"},
                                                                        {"memory.lower", "9GiB"},
                                                                        {"class", "batch"},
                                                                        {"bogus", ""},
                                                                        {"recommender", ""},
                                                                        {"min_change", "5"},
                                                                        {"change_period", "30min"}};
    std::vector<brain::KeyValue> settings;
    const JobId id{Next() % 32U};
    for (int i = Next() % 4; i > 0; --i) settings.push_back(kSettings[Next() % std::size(kSettings)]);
    (void)cell_.control().SetMany(id, settings, "anna");
  }
  // Reads with any job number, known or not.
  void Read() {
    ControlPlane& control = cell_.control();
    for (const uint32_t id : {0U, uint32_t{Next()}, UINT32_MAX}) {
      const bool known = control.Look(JobId{id}, [&](const brain::LiveJob& job) {
        Require(job.record->id.value == id, __LINE__);
        Require(job.record->first_seen_s >= 0 && job.record->first_seen_s < INT64_MAX / 2, __LINE__);
      });
      (void)control.Explain(JobId{id}, Resource::kMemory);
      Require(control.agents().Standing({JobId{id}, Next()}, "").has_value() == known, __LINE__);
    }
    const std::shared_ptr<const FleetView> view = control.view();
    Require(ListJobs(*view, JobsQuery()).total == view->jobs.size(), __LINE__);
    for (const JobView& job : view->jobs) Require(control.Find(job.record->name) == job.record->id, __LINE__);
  }
  void CheckStore() {
    DecisionQuery all;
    all.limit = 1'000'000;
    const auto decisions = *cell_.store().Decisions(all, History::Reasons::kLeaveOut);
    // IDs have no gaps; the store may have forgotten the oldest decisions.
    for (size_t i = 0; i < decisions.size(); ++i) Require(decisions[i].id == decisions[0].id - i, __LINE__);
    for (const Decision& d : decisions) {
      for (const std::optional<double>& limit : {d.before, d.after})
        Require(!limit.has_value() || std::isfinite(*limit), __LINE__);
    }
    const std::vector<OomRecord> ooms = *cell_.store().Ooms(std::nullopt, INT64_MIN, 1'000'000);
    for (const OomRecord& o : ooms) {
      Require(o.time_s >= 0 && o.time_s <= ControlCell::kStart + 10 * 365 * kDaySeconds, __LINE__);
      Require(!o.limit.has_value() || (*o.limit >= 0 && std::isfinite(*o.limit)), __LINE__);
    }
  }

  const ClockSource clock_;
  ControlCell cell_;
  CadvisorScrape scrape_{20};
  std::span<const uint8_t> bytes_;
  int64_t now_s_ = ControlCell::kStart;
  int visitors_ = 0;
  std::string job_, task_;
};

}  // namespace taut::server
