// Measures the daemon with many jobs: passes, memory, API responses, and restarts.
//
//   daemon_scale [--jobs 100000] [--windows 40] [--recommender ensemble] [--store PATH]
//
// One task per job, a CPU and a memory series per task, and five samples per window pass through everything
// except the socket: ingest, passes, SQLite, the API's handlers. Prints one line per figure with the figure's
// budget.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/process.h"
#include "common/base/random.h"
#include "common/base/strings.h"
#include "fmt/format.h"
#include "server/api/routes.h"
#include "server/control/control_plane.h"
#include "server/store/sqlite_store.h"

namespace taut {
namespace {

constexpr int64_t kStart = 1'700'006'400;  // a midnight in UTC

struct Args {
  int jobs = 100'000;
  int windows = 40;
  std::string recommender = "ensemble";
  std::string store = "/tmp/daemon_scale.db";
};

double Milliseconds() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since).count();
}

double ResidentMiB() { return static_cast<double>(ResidentBytes()) / kMiB; }

void Say(std::string_view what, double value, std::string_view unit, std::string_view budget) {
  fmt::print("{:<64} {:>10.4g} {:<4} budget {}\n", what, value, unit, budget);
  std::fflush(stdout);
}

class Scale {
 public:
  explicit Scale(const Args& args) : args_(args) {}

  void Start() {
    server::SqliteStore::Options options;
    options.path = args_.store;
    store_ = *server::SqliteStore::Open(options);
    server::ControlOptions control;
    brain::JobPolicy defaults;
    defaults.mode = Mode::kAuto;
    defaults.recommender = *brain::ParsePolicy(args_.recommender);
    control.live.rules = *brain::PolicyRules::Compile({}, defaults);
    control.live.vertical.ensemble.min_history_s = 3600;
    control_ = std::make_unique<server::ControlPlane>(
        control, *server::MappingRules::Compile(server::BuiltinRules()),
        server::ControlPlane::Parts{store_.get(), store_.get(), &actuator_, Milliseconds});
    const double start_ms = Milliseconds();
    if (const absl::Status s = control_->Restore(); !s.ok()) {
      fmt::print("restore: {}\n", Message(s));
      std::exit(1);
    }
    restore_ms_ = Milliseconds() - start_ms;
    context_.control = control_.get();
    context_.now = [this] { return control_->ingest().time.now(); };
    router_ =
        std::make_unique<server::Router>(access_, server::RoutesOf(access_, api_), server::Router::Parts());
  }
  void Stop() {
    router_.reset();
    control_.reset();
    store_.reset();
    malloc_trim(0);
  }

  void Live() {
    std::vector<double> passes;
    std::vector<std::pair<std::string, std::vector<double>>> steps;
    Rng rng(3);
    for (int w = 0; w < args_.windows; ++w) {
      for (int k = 0; k < 5; ++k) SendScrape(w * 300 + k * 60, rng);
      const Timestamp now = Timestamp::FromSeconds(kStart + w * 300 + 180);
      const absl::Status s = control_->Tick(now);
      if (!s.ok()) fmt::print("tick: {}\n", Message(s));
      ReturnFreedMemory();  // tautd also calls this function
      const server::PassTimes pass = control_->status().last_pass();
      if (pass.steps_ms.empty() || w < args_.windows / 2) continue;
      passes.push_back(pass.total_ms);
      steps.resize(pass.steps_ms.size());
      for (size_t i = 0; i < steps.size(); ++i) {
        steps[i].first = pass.steps_ms[i].first;
        steps[i].second.push_back(pass.steps_ms[i].second);
      }
    }
    const auto median = [](std::vector<double>& v) {
      std::sort(v.begin(), v.end());
      return v.empty() ? 0 : v[v.size() / 2];
    };
    Say(StrCat("a pass over ", args_.jobs, " jobs, on all cores, median"), median(passes) / 1000, "s", "2 s");
    for (auto& [step, times] : steps) Say(StrCat("  of it: ", step), median(times) / 1000, "s", "-");
    const struct mallinfo2 heap = mallinfo2();
    Say("  of it in use on the heap", static_cast<double>(heap.uordblks + heap.hblkhd) / kMiB, "MiB", "-");
    Say("resident memory", ResidentMiB(), "MiB",
        args_.jobs >= 100'000  ? "1536 MiB"
        : args_.jobs >= 10'000 ? "250 MiB"
                               : "-");
  }

  void Ask() {
    const std::string name = PercentEncode("cell/deployment/job-777");
    const std::pair<std::string, std::string> questions[] = {
        {"jobs, sorted, a page of 100", "/api/v1/jobs?sort=memory_saved"},
        {"jobs, searched", "/api/v1/jobs?search=job-77"},
        {"fleet", "/api/v1/fleet"},
        {"fleet history", "/api/v1/fleet/history"},
        {"a job", StrCat("/api/v1/jobs/", name)},
        {"a job's heatmap", StrCat("/api/v1/jobs/", name, "/usage")},
        {"a job explained", StrCat("/api/v1/jobs/", name, "/explain")},
        {"decisions", "/api/v1/decisions"}};
    for (const auto& [what, target] : questions) {
      std::vector<double> times;
      for (int i = 0; i < 100; ++i) times.push_back(AskOnce(target));
      std::sort(times.begin(), times.end());
      Say(StrCat("API: ", what, ", p99 of 100"), times[98], "ms", "50 ms");
    }
  }

  void Again() {
    const double start_ms = Milliseconds();
    if (!control_->CheckpointAll().ok()) fmt::print("no checkpoint\n");
    Say("the last checkpoint of a stop", (Milliseconds() - start_ms) / 1000, "s", "-");
    Stop();
    Start();
    Say("start from the store to ready, after a stop", restore_ms_ / 1000, "s", "5 s");
    Rng rng(4);
    for (int w = args_.windows; w < args_.windows + 4; ++w) {
      for (int k = 0; k < 5; ++k) SendScrape(w * 300 + k * 60, rng);
      (void)control_->Tick(Timestamp::FromSeconds(kStart + w * 300 + 180));
      // After a restart, jobs are not loaded until their first window.
      if (w == args_.windows + 1 && !control_->status().last_pass().steps_ms.empty())
        Say("  and the first window after it: observe",
            control_->status().last_pass().steps_ms[0].second / 1000, "s", "-");
    }
    Stop();
    Start();
    Say("start from the store to ready, after a kill", restore_ms_ / 1000, "s", "5 s");
  }

 private:
  void SendScrape(int64_t at_s, Rng& rng) {
    const Timestamp now = Timestamp::FromSeconds(kStart + at_s);
    for (int j = 0; j < args_.jobs; ++j) {
      const std::string pod = fmt::format("job-{}-5d4f8c7b9d-x2x4z", j);
      for (const bool cpu : {true, false}) {
        const LabelView labels[] = {
            {"__name__", cpu ? "container_cpu_usage_seconds_total" : "container_memory_working_set_bytes"},
            {"container", "app"},
            {"namespace", "cell"},
            {"pod", pod}};
        const double t = static_cast<double>(at_s);
        const double base = 1 + j % 97;
        const server::RemoteSample sample{
            cpu ? t * 0.01 * base + 0.3 * base * rng.Uniform() : base * 3e7 * rng.Uniform(0.9, 1.1),
            now.us / 1000};
        control_->ingest().samples.Take(labels, {&sample, 1}, now);
      }
    }
  }
  double AskOnce(const std::string& target_text) {
    const std::optional<HttpTarget> target = ParseTarget(target_text);
    HttpRequest request;
    request.method = "GET";
    request.path = target->path;
    request.segments = target->segments;
    request.query = target->query;
    request.role = Role::kOperator;
    const double start_ms = Milliseconds();
    const HttpResponse response = router_->Handle(request);
    const double took_ms = Milliseconds() - start_ms;
    if (response.status != 200) {
      // An error response must not be measured.
      fmt::print(stderr, "daemon_scale: {}: {} {}\n", target_text, response.status, response.body);
      std::exit(1);
    }
    return took_ms;
  }

  const Args args_;
  server::DryRunActuator actuator_;
  std::unique_ptr<server::SqliteStore> store_;
  std::unique_ptr<server::ControlPlane> control_;
  server::DaemonContext context_;
  const server::FleetAccess access_{context_};
  const server::ApiParts api_;
  std::unique_ptr<server::Router> router_;
  double restore_ms_ = 0;
};

int Run(int argc, char** argv) {
  Args args;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view key = argv[i];
    const std::string value = i + 1 < argc ? argv[i + 1] : "";
    if (key == "--jobs" && !value.empty()) {
      args.jobs = std::stoi(value);
    } else if (key == "--windows" && !value.empty()) {
      args.windows = std::stoi(value);
    } else if (key == "--recommender" && !value.empty()) {
      args.recommender = value;
    } else if (key == "--store" && !value.empty()) {
      args.store = value;
    } else {
      fmt::print(stderr,
                 "daemon_scale: \"{}\": expected --jobs, --windows, --recommender or --store with a value\n",
                 key);
      return 2;
    }
  }
  if (args.jobs < 778) {
    fmt::print(stderr, "daemon_scale: --jobs {}: expected 778 or more\n", args.jobs);
    return 2;
  }
  for (const std::string_view end : {"", "-wal", "-shm", ".lock"})
    std::filesystem::remove(StrCat(args.store, end));
  Scale scale(args);
  scale.Start();
  scale.Live();
  scale.Ask();
  scale.Again();
  scale.Stop();
  for (const std::string_view end : {"", "-wal", "-shm", ".lock"})
    std::filesystem::remove(StrCat(args.store, end));
  return 0;
}

}  // namespace
}  // namespace taut

int main(int argc, char** argv) { return taut::Run(argc, argv); }
