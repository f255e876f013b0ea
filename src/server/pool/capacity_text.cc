#include "server/pool/capacity_text.h"

#include <algorithm>
#include <cmath>

#include "common/base/strings.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::server {
namespace {

constexpr const char* kHowKnown =
    "Let node agents connect (agents.listen), read a cluster (kubernetes.kubeconfig), or state the size of "
    "the "
    "pool in the price file (prices.file, `pool: {cores: 800, memory: 4TiB}`).";

std::string ShareText(double share) { return fmt::format("{:.6g} %", 100 * share); }

// Returns text such as "2 of 100" or "1 of 1,000".
std::string OddsText(double share) {
  int64_t of = 100;
  while (static_cast<double>(of) * share < 0.95 && of < 1'000'000) of *= 10;
  return StrCat(std::max<int64_t>(1, std::llround(static_cast<double>(of) * share)), " of ",
                FormatCount(static_cast<uint64_t>(of)));
}

std::string HorizonText(const CapacityOffer& offer) {
  const int32_t hours = kCapacityHorizons[*offer.horizon].hours;
  return hours == 1 ? "hour" : hours <= 24 ? StrCat(hours, " hours") : StrCat(hours / 24, " days");
}

std::string WhenText(const CapacityOffer& offer) {
  if (offer.never) return StrCat(" That is more than the ", kCapacityDays, " days that tautd keeps.");
  return offer.ready_s.has_value() ? StrCat(" At the earliest from ", FormatTime(*offer.ready_s), " on.")
                                   : "";
}

std::string RefusalText(const CapacityOffer& offer) {
  const brain::Evidence& e = offer.evidence;
  if (!offer.measured) return "No hour is known in which both capacity and usage were measured.";
  switch (offer.refusal) {
    case brain::Refusal::kHorizonUnseen:
      return StrCat("History is too short: one day and then ",
                    kCapacityHorizons[*offer.horizon].hours == 1 ? "an " : "", HorizonText(offer),
                    " are needed.", WhenText(offer));
    case brain::Refusal::kTooFewSamples:
      return StrCat(
          "History is too short for ", ShareText(offer.promise), ": ",
          fmt::format("{:.0f} independent hours are known, {:.0f} are needed, and {:.2g} hours that follow "
                      "each other count as one.",
                      std::floor(e.independent), e.needed, e.steps_per_sample),
          WhenText(offer));
    case brain::Refusal::kUnmeasured:
      return StrCat("Less than half of the last day was measured.", WhenText(offer));
    case brain::Refusal::kNothingLeft:
      return StrCat("Nothing: the higher tiers are expected to use up to ",
                    FormatAmount(offer.resource, e.base + e.margin),
                    ", which leaves nothing of the capacity.");
    case brain::Refusal::kNone:
      break;
  }
  return "";
}

}  // namespace

std::string CapacityWhy(const CapacityView& view) {
  if (!view.latest.has_value())
    return "No window has closed yet: capacity and usage are known after 5 minutes.";
  for (const CapacityAmounts& a : view.latest->of) {
    if (a.capacity.has_value()) return "";
  }
  return StrCat("The capacity of the cell is not known, so nothing can be said of what can be sold. ",
                kHowKnown);
}

std::string CapacityNote(const CapacityView& view) {
  if (!view.latest.has_value()) return "";
  const CellCapacity& now = *view.latest;
  std::string out;
  const auto add = [&out](std::string_view sentence) { StrAppend(&out, out.empty() ? "" : " ", sentence); };
  if (now.source == CapacitySource::kPool)
    add("Capacity is what the price file states; usage is that of all jobs.");
  if (now.source == CapacitySource::kMachines && now.unmeasured_machines > 0)
    add(StrCat(now.unmeasured_machines, " of ", now.machines,
               " machines were not measured in the last window: nothing of them is offered."));
  if (now.jobs_of_unknown_tier > 0)
    add(StrCat(now.jobs_of_unknown_tier, now.jobs_of_unknown_tier == 1 ? " job is" : " jobs are",
               " of a tier that the price file does not have (\"", now.unknown_tier, "\") and count as of ",
               view.tiers[0].name, "."));
  bool any = false;
  for (const CapacityTier& tier : view.tiers) any = any || tier.sale == brain::TierSale::kSlack;
  if (!any)
    add("No tier promises an availability between 0 and 99.9 %, so none is sold from what others leave "
        "unused: "
        "give one in the price file (availability: 0.98).");
  return out;
}

std::string RiskText(const CapacityTier& tier) {
  switch (tier.sale) {
    case brain::TierSale::kReserved:
      return "Never reclaimed: it is sold against the capacity itself.";
    case brain::TierSale::kSpare:
      return "No promise: it runs in what is unused, and may be reclaimed at any time.";
    case brain::TierSale::kSlack:
      break;
  }
  return StrCat("In about ", OddsText(1 - tier.promise),
                " hours less than the amount is available, and tasks of this tier are reclaimed.");
}

std::string OfferText(const CapacityView& view, const CapacityOffer& offer) {
  if (!offer.horizon.has_value()) {
    if (!offer.sellable.has_value()) return CapacityWhy(view);
    return "The capacity, less what the other reserved tiers have bought.";
  }
  if (offer.refusal != brain::Refusal::kNone) {
    const std::string why = offer.measured ? "" : CapacityWhy(view);
    return why.empty() ? RefusalText(offer) : why;
  }
  const brain::Evidence& e = offer.evidence;
  return StrCat(FormatAmount(offer.resource, *offer.sellable), " in ", ShareText(offer.promise),
                " of the time of the next ", HorizonText(offer),
                ": the higher tiers are expected to use up to ",
                FormatAmount(offer.resource, e.base + e.margin),
                fmt::format(", by {:.0f} hours of history.", static_cast<double>(e.measured_steps)));
}

std::string_view OutcomeName(const brain::PromiseOutcome& outcome) {
  if (!outcome.complete) return "open";
  if (outcome.measured == 0) return "unmeasured";
  return outcome.kept() ? "kept" : "missed";
}

}  // namespace taut::server
