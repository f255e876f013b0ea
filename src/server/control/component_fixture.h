// Fixture for tests of components: a daemon's context over a store in memory.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/strings.h"
#include "common/testing/eventually.h"
#include "common/testing/recorded_log.h"
#include "common/testing/temp_dir.h"
#include "server/control/actuator.h"
#include "server/control/component.h"
#include "server/store/in_memory_store.h"

namespace taut::server {

class ComponentTest : public testing::Test {
 protected:
  ComponentTest() {
    context_.control = &control_;
    context_.log = &log_;
    context_.states = &store_.states();
    context_.store_path = dir_.File("tautd.db");
    context_.now = context_.cell_now = [this] { return now(); };
    context_.clock_doubt = [] { return std::string(); };
    context_.stopping = [this] { return stopping_.load(); };
    // Pauses take 1 ms, regardless of the requested duration.
    context_.wait = [](std::chrono::milliseconds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    EXPECT_TRUE(control_.Restore().ok());
  }

  Timestamp now() const { return Timestamp::FromSeconds(now_s_); }
  // Reports and closes the window before now, with one task of this job.
  void CloseAWindow(std::string_view job = "other") {
    ReportedWindow report;
    report.window = WindowId{WindowId::Of(now()).index - 1};
    report.figures.cpu_mean_cores = report.figures.cpu_peak_cores = 1;
    report.figures.memory_mean_bytes = report.figures.memory_peak_bytes = 1e9F;
    EXPECT_TRUE(control_.agents().TakeWindow({std::string(job), "t", {}}, report, now()).ok());
    EXPECT_TRUE(control_.Tick(Timestamp::FromSeconds(now_s_ + 121)).ok());
  }
  // Returns an iteration of the daemon's loop, `steady_s` seconds after its start.
  LoopTurn Turn(double steady_s, absl::Status stored = absl::OkStatus()) const {
    return {.stored = std::move(stored), .now = now(), .steady_s = steady_s};
  }
  // Reloads the component and returns the names of the reloaded parts.
  std::vector<std::string> Reload(Component& component, const DaemonConfig& next) {
    Reloading reload{.next = next, .running = config_, .log = log_};
    component.OnReload(reload);
    reload.Finish();
    return reload.taken;
  }
  static std::string MetricsOf(const Component& component) {
    MetricsText out;
    component.Collect(out);
    return out.Take();
  }
  // Returns the number of log lines that contain this text.
  int Logged(std::string_view text) const {
    int out = 0;
    for (const std::string& line : log_.lines()) out += line.find(text) != std::string::npos ? 1 : 0;
    return out;
  }
  // Returns the port in the log; 0 if there is none.
  int LoggedPort() const {
    for (const std::string& line : log_.lines()) {
      if (const size_t at = line.find(" on port "); at != std::string::npos)
        return std::stoi(line.substr(at + std::string_view(" on port ").size()));
    }
    return 0;
  }

  TempDir dir_{TempDir::Where::kMemory};
  InMemoryStore store_;
  DryRunActuator actuator_;
  ControlPlane control_{ControlOptions(),
                        *MappingRules::Compile(BuiltinRules()),
                        {&store_, &store_, &actuator_, [] { return 0.0; }}};
  RecordedLog log_;
  std::atomic<int64_t> now_s_{1'770'000'000};
  std::atomic<bool> stopping_{false};
  DaemonContext context_;
  DaemonConfig config_;
};

}  // namespace taut::server
