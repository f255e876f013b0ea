#include "server/pool/capacity_component.h"

#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr int32_t kWindowsPerSave = 3;  // windows between saves, a divisor of the windows of an hour
constexpr int64_t kHourSeconds = 3600;

}  // namespace

CapacityComponent::CapacityComponent(Parts parts, const DaemonContext& context)
    : parts_(std::move(parts)), context_(context), state_("capacity", "the state of capacity", context) {}

std::span<const std::string_view> CapacityComponent::after() const {
  static constexpr std::string_view kAfter[] = {"machines", "quota", "prices"};
  return kAfter;
}

absl::Status CapacityComponent::Start() {
  tiers_.emplace(JobTiers::Options{parts_.prices->pricing(), parts_.default_tier});
  service_.emplace(std::vector<CapacityTier>(tiers_->tiers().begin(), tiers_->tiers().end()));
  Load();
  context_.control->OnTick([this](const TickEvents& events) { OnTick(events); });
  return absl::OkStatus();
}

CellCapacity CapacityComponent::Now() const {
  const std::shared_ptr<const FleetView> fleet = context_.control->view();
  std::shared_ptr<const MachinesView> machines;
  // After a restart and before the first window closes, the machines' view belongs to an earlier window.
  if (parts_.machines != nullptr) machines = parts_.machines->service()->View();
  if (machines != nullptr && machines->window != fleet->window) machines = std::make_shared<MachinesView>();
  std::optional<QuotaView> quota;
  std::shared_ptr<const GroupScheme> scheme;
  if (parts_.quota != nullptr) {
    quota = parts_.quota->service()->View();
    scheme = parts_.quota->service()->scheme();
  }
  const brain::Pricing* const pricing = parts_.prices->pricing();
  const brain::PoolPrices* const pool =
      pricing != nullptr && pricing->pool.has_value() ? &*pricing->pool : nullptr;
  return CellCapacityOf(
      {*fleet, machines.get(), pool, quota.has_value() ? &*quota : nullptr, scheme.get(), *tiers_});
}

void CapacityComponent::Load() {
  const absl::StatusOr<std::optional<std::string>> bytes = state_.Read();
  const std::optional<WindowId> stored = context_.control->view()->window;
  if (!bytes.ok() || bytes->has_value()) {
    absl::Status loaded = bytes.ok() ? service_->LoadState(**bytes) : bytes.status();
    if (loaded.ok() && service_->window().has_value() && service_->window() > stored) {
      service_->Clear();
      loaded = absl::FailedPreconditionError("it is newer than the store: of another one");
    }
    if (!loaded.ok())
      context_.log->Warn(
          StrCat("the state of capacity: ", Message(loaded),
                 "; the history of capacity and the promises of it are lost, and begin again"));
  }
  if (stored.has_value()) service_->Show(Now());
}

void CapacityComponent::OnTick(const TickEvents& events) {
  if (events.window == nullptr) return;
  if (events.past) return OnPast(*events.window);
  service_->OnWindow(Now());
  // The last window of each hour is saved, because kWindowsPerSave divides an hour. A kill loses at most the
  // windows since the last save.
  if (events.window->window.index % kWindowsPerSave == kWindowsPerSave - 1) Save();
}

void CapacityComponent::OnPast(const ClosedWindow& window) {
  if (context_.control->view()->window != window.window) return;
  const CellCapacity then = Now();
  // If the capacity at the time of a past window is unknown, show the window only if it is the newest window, and
  // do not add the window to its hour.
  if (parts_.machines != nullptr || then.source != CapacitySource::kPool) return service_->Show(then);
  service_->OnPastWindow(then);
  if (window.window.index % kWindowsPerHour == kWindowsPerHour - 1) Save();
}

void CapacityComponent::Save() {
  if (state_.kept() && service_->window().has_value()) state_.WriteOrLog(service_->SaveState());
}

void CapacityComponent::Collect(MetricsText& out) const {
  const std::shared_ptr<const CapacityView> view = service_->View();
  const auto put = [&](const char* name, const char* help, auto value_of) {
    for (const CapacityOffer& offer : view->offers) {
      const std::optional<double> value = value_of(offer);
      if (!value.has_value()) continue;
      out.Gauge(name, help, *value,
                {{"tier", view->tiers[offer.tier].name},
                 {"horizon", offer.horizon.has_value() ? kCapacityHorizons[*offer.horizon].name : "any"},
                 {"resource", Name(offer.resource)}});
    }
  };
  using Offer = CapacityOffer;
  put("tautd_capacity_sellable", "Sellable amount of the tier, in cores or bytes.",
      [](const Offer& o) { return o.sellable; });
  put("tautd_capacity_sold", "Larger of the tier's quota and allocation.",
      [](const Offer& o) { return o.sold; });
  put("tautd_capacity_promised_ratio", "Promised share of the hours in which the amount is available.",
      [](const Offer& o) { return std::optional(o.promise); });
  put("tautd_capacity_kept_ratio", "Share of the hours of ended promises in which the amount was available.",
      [](const Offer& o) { return o.kept.promises > 0 ? std::optional(o.kept.kept_time) : std::nullopt; });
  put("tautd_capacity_promises", "Ended promises that are kept in the ledger and were measured.",
      [](const Offer& o) {
        return o.horizon.has_value() ? std::optional(static_cast<double>(o.kept.promises)) : std::nullopt;
      });
  put("tautd_capacity_promises_kept", "Ended promises whose share of available hours was as promised.",
      [](const Offer& o) {
        return o.horizon.has_value() ? std::optional(static_cast<double>(o.kept.promises_kept))
                                     : std::nullopt;
      });
  for (const Resource r : kResources) {
    out.Gauge("tautd_capacity_measured_seconds", "Measured time of capacity and usage, in whole hours.",
              static_cast<double>(view->measured_hours[IndexOf(r)] * kHourSeconds), {{"resource", Name(r)}});
  }
  out.Counter("tautd_capacity_failed_saves_total", "Times that the state of capacity could not be written.",
              state_.failed_writes());
}

}  // namespace taut::server
