#include "tools/programs/capacity_run.h"

#include "common/base/strings.h"
#include "common/base/whole_file.h"
#include "spdlog/spdlog.h"

namespace taut::tools {
namespace {

constexpr int32_t kWindowsPerSave = 3;  // divides an hour

}  // namespace

CapacityRun::CapacityRun(const Parts& parts, const std::string& store_path)
    : parts_(parts),
      file_(store_path == "memory" ? "" : StrCat(store_path, ".capacity")),
      tiers_(server::JobTiers::Options{parts.pricing, parts.default_tier}),
      desk_(std::vector<server::CapacityTier>(tiers_.tiers().begin(), tiers_.tiers().end())) {
  Load();
}

server::CellCapacity CapacityRun::Now() const {
  const std::shared_ptr<const server::FleetView> fleet = parts_.control.view();
  std::shared_ptr<const server::MachinesView> machines;
  // A view of another window, as after a restart before the first one closes, is of other machines.
  if (parts_.machines != nullptr) machines = parts_.machines->View();
  if (machines != nullptr && machines->window != fleet->window)
    machines = std::make_shared<server::MachinesView>();
  std::optional<server::QuotaView> quota;
  std::shared_ptr<const server::GroupScheme> scheme;
  if (parts_.quota != nullptr) {
    quota = parts_.quota->View();
    scheme = parts_.quota->scheme();
  }
  const brain::PoolPrices* pool =
      parts_.pricing != nullptr && parts_.pricing->pool.has_value() ? &*parts_.pricing->pool : nullptr;
  return server::CellCapacityOf(
      {*fleet, machines.get(), pool, quota.has_value() ? &*quota : nullptr, scheme.get(), tiers_});
}

void CapacityRun::Load() {
  const std::optional<std::string> bytes = file_.empty() ? std::nullopt : ReadWhole(file_);
  const std::optional<WindowId> stored = parts_.control.view()->window;
  if (bytes.has_value()) {
    absl::Status loaded = desk_.LoadState(*bytes);
    if (loaded.ok() && desk_.window().has_value() && desk_.window() > stored) {
      desk_.Clear();
      loaded = absl::FailedPreconditionError("it is newer than the store: of another one");
    }
    if (!loaded.ok())
      spdlog::warn("{}: {}; the history of capacity and the promises of it are lost, and begin again", file_,
                   Message(loaded));
  }
  if (stored.has_value()) desk_.Show(Now());
}

void CapacityRun::OnTick(const server::TickEvents& events) {
  if (events.window == nullptr) return;
  if (events.past) return OnPast(*events.window);
  desk_.OnWindow(Now());
  // The last of each hour is among them; a kill costs the hour at most the windows in between.
  if (events.window->window.index % kWindowsPerSave == kWindowsPerSave - 1) Save();
}

void CapacityRun::OnPast(const ClosedWindow& window) {
  if (parts_.control.view()->window != window.window) return;
  const server::CellCapacity then = Now();
  // Without a capacity of the past there is nothing to count, but a window has closed.
  if (parts_.machines != nullptr || then.source != server::CapacitySource::kPool) return desk_.Show(then);
  desk_.OnPastWindow(then);
  if (window.window.index % kWindowsPerHour == kWindowsPerHour - 1) Save();
}

void CapacityRun::Save() {
  if (file_.empty() || !desk_.window().has_value()) return;
  const absl::Status s = WriteWhole(file_, desk_.SaveState());
  if (!s.ok()) ++failed_saves_;
  const std::string now(Message(s));
  if (now == said_) return;
  if (s.ok()) {
    spdlog::info("the state of capacity is written again");
  } else {
    spdlog::error("the state of capacity: {}", now);
  }
  said_ = now;
}

}  // namespace taut::tools
