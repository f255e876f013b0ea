#include "tools/programs/machines_run.h"

#include <chrono>

#include "common/base/strings.h"
#include "common/base/whole_file.h"
#include "spdlog/spdlog.h"

namespace taut::tools {
namespace {

// A large state is not written with every window: a kill then costs up to half an hour of history.
constexpr size_t kLargeState = size_t{16} << 20;
constexpr int kWindowsOfLargeState = 6;

double Seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

MachinesRun::MachinesRun(const server::MachinesConfig& config, const std::string& store_path,
                         std::vector<const server::PlacementSource*> sources,
                         const server::ControlPlane& control)
    : file_(store_path == "memory" ? "" : StrCat(store_path, ".machines")),
      sources_(std::move(sources)),
      control_(control),
      desk_(server::MachineOptions{.risk = config.risk, .reservation = {}}) {
  Load();
}

void MachinesRun::Load() {
  const std::optional<std::string> bytes = file_.empty() ? std::nullopt : ReadWhole(file_);
  if (!bytes.has_value()) return;
  absl::Status loaded = desk_.LoadState(*bytes);
  const std::optional<WindowId> stored = control_.view()->window;
  if (loaded.ok() && desk_.View()->window.has_value() && desk_.View()->window > stored) {
    desk_.Clear();
    loaded = absl::FailedPreconditionError("it is newer than the store: of another one");
  }
  if (loaded.ok()) {
    spdlog::info("{} machines restored from {}", desk_.View()->machines.size(), file_);
  } else {
    spdlog::warn("{}: {}; what was known of machines is lost, and is learnt again", file_, Message(loaded));
  }
}

void MachinesRun::OnTick(const server::TickEvents& events) {
  if (events.window == nullptr || events.past) return;
  const double start = Seconds();
  std::vector<server::PlacementOf> placement;
  for (const server::PlacementSource* source : sources_)
    placement.push_back({std::string(source->placement_name()), source->Placement()});
  std::vector<server::PlacedTask*> tasks;
  for (server::PlacementOf& of : placement) {
    for (server::PlacedMachine& machine : of.machines) {
      for (server::PlacedTask& task : machine.tasks) tasks.push_back(&task);
    }
  }
  control_.FindNumbers(tasks);
  desk_.OnWindow(*events.window, std::move(placement));
  pass_s_ = Seconds() - start;
  if (++windows_ >= (state_bytes_ > kLargeState ? kWindowsOfLargeState : 1)) Save();
}

void MachinesRun::Save() {
  windows_ = 0;
  if (file_.empty() || !desk_.View()->window.has_value()) return;
  const double start = Seconds();
  const std::string bytes = desk_.SaveState();
  state_bytes_ = bytes.size();
  const absl::Status s = WriteWhole(file_, bytes);
  save_s_ = Seconds() - start;
  if (!s.ok()) ++failed_saves_;
  const std::string now(Message(s));
  if (now == said_) return;
  if (s.ok()) {
    spdlog::info("the state of machines is written again");
  } else {
    spdlog::error("the state of machines: {}", now);
  }
  said_ = now;
}

server::MachineRunCounts MachinesRun::counts() const { return {failed_saves_, pass_s_, save_s_}; }

}  // namespace taut::tools
