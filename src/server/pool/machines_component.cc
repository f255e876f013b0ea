#include "server/pool/machines_component.h"

#include <algorithm>

#include "common/base/strings.h"
#include "common/net/clocks.h"

namespace taut::server {
namespace {

// A large state is not written with every window, so that a kill may lose up to half an hour of history.
constexpr size_t kLargeState = size_t{16} << 20;
constexpr int kWindowsOfLargeState = 6;

}  // namespace

MachinesComponent::MachinesComponent(const MachinesConfig& config, const DaemonContext& context,
                                     std::vector<const PlacementSource*> sources)
    : context_(context),
      state_("machines", "the state of machines", context),
      sources_(std::move(sources)),
      service_(MachineOptions{.risk = config.risk, .reservation = {}}) {}

absl::Status MachinesComponent::Start() {
  Load();
  context_.control->OnTick([this](const TickEvents& events) { OnTick(events); });
  return absl::OkStatus();
}

PerResource<double> MachinesComponent::Largest() const {
  PerResource<double> largest{};
  for (const auto& machine : service_.View()->machines) {
    for (const Resource r : kResources) {
      double& most = largest[IndexOf(r)];
      most = std::max(most, machine->of(r).capacity.value_or(0));
    }
  }
  return largest;
}

void MachinesComponent::Load() {
  const absl::StatusOr<std::optional<std::string>> bytes = state_.Read();
  if (bytes.ok() && !bytes->has_value()) return;
  absl::Status loaded = bytes.ok() ? service_.LoadState(**bytes) : bytes.status();
  const std::optional<WindowId> stored = context_.control->view()->window;
  if (loaded.ok() && service_.View()->window.has_value() && service_.View()->window > stored) {
    service_.Clear();
    loaded = absl::FailedPreconditionError("it is newer than the store: of another one");
  }
  if (loaded.ok()) {
    context_.log->Info(StrCat(service_.View()->machines.size(), " machines restored"));
  } else {
    context_.log->Warn(StrCat("the state of machines: ", Message(loaded),
                              "; what was known of machines is lost, and is learnt again"));
  }
}

void MachinesComponent::OnTick(const TickEvents& events) {
  if (events.window == nullptr || events.past) return;
  const double start = SteadySeconds();
  std::vector<PlacementOf> placement;
  for (const PlacementSource* source : sources_)
    placement.push_back({std::string(source->placement_name()), source->Placement()});
  std::vector<PlacedTask*> tasks;
  for (PlacementOf& of : placement) {
    for (PlacedMachine& machine : of.machines) {
      for (PlacedTask& task : machine.tasks) tasks.push_back(&task);
    }
  }
  context_.control->FindNumbers(tasks);
  service_.OnWindow(*events.window, std::move(placement));
  pass_s_ = SteadySeconds() - start;
  if (++windows_ >= (state_bytes_ > kLargeState ? kWindowsOfLargeState : 1)) Save();
}

void MachinesComponent::Save() {
  windows_ = 0;
  if (!state_.kept() || !service_.View()->window.has_value()) return;
  const double start = SteadySeconds();
  const std::string bytes = service_.SaveState();
  state_bytes_ = bytes.size();
  state_.WriteOrLog(bytes);
  save_s_ = SteadySeconds() - start;
}

void MachinesComponent::Collect(MetricsText& out) const {
  const std::shared_ptr<const MachinesView> view = service_.View();
  for (const MachineTotals& t : view->totals) {
    const auto state = [&](std::string_view name, uint32_t n) {
      out.Gauge("tautd_machines", "Known machines, by source and state.", static_cast<double>(n),
                {{"source", t.source}, {"state", name}});
    };
    state("present", t.present);
    state("away", t.machines - t.present);
  }
  const auto put = [&](const char* name, const char* help, auto sum) {
    for (const MachineTotals& t : view->totals) {
      for (const Resource r : kResources) {
        const std::optional<double> amount = sum(t.of[IndexOf(r)]).value();
        if (amount.has_value()) out.Gauge(name, help, *amount, {{"source", t.source}, {"resource", Name(r)}});
      }
    }
  };
  using Of = MachineTotals::Of;
  put("tautd_machines_capacity", "Capacity of the machines, in cores or bytes.",
      [](const Of& of) { return of.capacity; });
  put("tautd_machines_limits", "Limits of their tasks.", [](const Of& of) { return of.limits; });
  put("tautd_machines_reservations", "Reservations of their tasks.",
      [](const Of& of) { return of.reservations; });
  put("tautd_machines_usage", "Usage of their tasks in the last window.",
      [](const Of& of) { return of.usage; });
  put("tautd_machines_predicted", "Predicted peaks of the next day, at the risk target.",
      [](const Of& of) { return of.predicted; });
  put("tautd_machines_reclaimable", "Capacity less the predicted peak.",
      [](const Of& of) { return of.reclaimable; });
  put("tautd_machines_reclaimable_now", "Limits less reservations.",
      [](const Of& of) { return of.reclaimable_now; });
  out.Gauge("tautd_machines_risk", "Risk target: share of machine-days whose peak exceeds the prediction.",
            view->risk);
  for (const Resource r : kResources) {
    const PromiseCounts& counts = view->promises[IndexOf(r)];
    const auto days = [&](std::string_view outcome, uint64_t n) {
      out.Gauge("tautd_machine_predictions",
                "Predictions of the last 90 days, one per machine and day, by outcome.",
                static_cast<double>(n), {{"resource", Name(r)}, {"outcome", outcome}});
    };
    days("kept", counts.judged - counts.passed);
    days("passed", counts.passed);
  }
  out.Counter("tautd_machines_failed_saves_total", "Times that the state of machines could not be written.",
              state_.failed_writes());
  out.Gauge("tautd_machines_pass_seconds", "Duration of the last pass over the machines.", pass_s_.load());
  out.Gauge("tautd_machines_save_seconds", "Duration of the last save of the machines' state.",
            save_s_.load());
}

}  // namespace taut::server
