#include "tools/cli/export_plan.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "tools/cli/export_values.h"

namespace taut::tools {
namespace {

std::string_view KeyOf(Resource resource) { return Name(resource); }

const Json* Child(const Json& at, std::string_view key) {
  return at.is_object() && at.contains(key) && at[key].is_object() ? &at[key] : nullptr;
}

bool Flag(const Json& at, std::string_view key) { return at.contains(key) && at[key] == true; }

Allocation AllocationOf(const Json& job, Resource resource) {
  Allocation out;
  const Json* all = Child(job, "allocation");
  const Json* of = all == nullptr ? nullptr : Child(*all, KeyOf(resource));
  if (of == nullptr) return out;
  const std::string word = TextOf(*of, "applies_to");
  const auto* named = std::ranges::find(kAppliesToNames, word);
  if (named != std::end(kAppliesToNames))
    out.applies_to = static_cast<AppliesTo>(named - std::begin(kAppliesToNames));
  out.request_share = AmountOf(*all, KeyOf(resource), "request_share");
  return out;
}

// Parses the job's container; nullopt if the API's response has none.
std::optional<TemplateContainer> ContainerOf(const Json& job) {
  const Json* container = Child(job, "container");
  if (container == nullptr) return std::nullopt;
  TemplateContainer out;
  out.is_init = Flag(*container, "init");
  out.guaranteed = Flag(*container, "guaranteed");
  out.rest_is_equal = Flag(*container, "others_equal");
  for (const Resource r : kResources) {
    out.amounts[static_cast<size_t>(r)] = {AmountOf(*container, KeyOf(r), "request"),
                                           AmountOf(*container, KeyOf(r), "limit")};
    if (const Json* of = Child(*container, KeyOf(r)); of != nullptr)
      out.scaled_by[static_cast<size_t>(r)] = TextOf(*of, "scaled_by");
  }
  return out;
}

double WholeUnits(Resource resource, double amount) {
  return InCores(resource) ? RoundedAmount(resource, amount) : std::ceil(amount / kMiB) * kMiB;
}

// Rounds request and limit to whole units. Equal amounts stay equal, and different amounts stay different.
ContainerResources InWholeUnits(Resource resource, const ContainerResources& plan) {
  ContainerResources out = plan;
  if (plan.limit.has_value()) out.limit = WholeUnits(resource, *plan.limit);
  if (!plan.request.has_value()) return out;
  out.request = WholeUnits(resource, *plan.request);
  const bool were_apart = plan.limit.has_value() && *plan.request < *plan.limit;
  if (were_apart && *out.request >= *out.limit) out.request = plan.request;
  return out;
}

ContainerResources ByFields(ResourceFields fields, double amount) {
  ContainerResources out;
  if (fields == ResourceFields::kRequests || fields == ResourceFields::kBoth) out.request = amount;
  if (fields == ResourceFields::kLimits || fields == ResourceFields::kBoth) out.limit = amount;
  return out;
}

// Returns the plan for a container that the API does not know. The ratio of request to limit is the owner's ratio
// from series, or the configured ratio.
ContainerResources PlanUnknown(Resource resource, double amount, const Allocation& allocation,
                               const Json& job) {
  if (IsOfRequest(job, KeyOf(resource)) || allocation.of_request()) return {amount, std::nullopt};
  const ContainerResources owner = AmountsNow(job, KeyOf(resource));
  if (owner.request.has_value() && owner.limit.has_value())
    return PlanAllocation(resource, amount, allocation, {.now = owner, .owner = owner});
  if (allocation.request_share.has_value()) return {amount * *allocation.request_share, amount};
  return ByFields(resource == Resource::kCpu ? ResourceFields::kRequests : ResourceFields::kBoth, amount);
}

void LeaveOut(std::string_view what, ExportPlan& plan) {
  StrAppend(&plan.left_out, plan.left_out.empty() ? "" : "; ", what);
}

std::string StayText(Resource resource, std::string_view scaled_by) {
  return StrCat("the ", KeyOf(resource), " request stays: ", scaled_by, " scales the workload by its use");
}

// Returns true if `plan` leaves the container's other resource with equal request and limit.
bool IsOtherEqual(const TemplateContainer& container, Resource resource, const ExportPlan& plan) {
  const Resource other = resource == Resource::kCpu ? Resource::kMemory : Resource::kCpu;
  const std::optional<double> request =
      plan.of(other).request.has_value() ? plan.of(other).request : container.of(other).request;
  const std::optional<double> limit =
      plan.of(other).limit.has_value() ? plan.of(other).limit : container.of(other).limit;
  return request.has_value() && limit.has_value() && IsSameAmount(other, *request, *limit);
}

ContainerResources PlanKnown(Resource resource, double amount, const Allocation& allocation,
                             const TemplateContainer& container, ExportPlan& plan) {
  AllocationPlace place;
  place.now = place.owner = container.of(resource);
  place.guaranteed = container.guaranteed;
  place.rest_is_equal = container.rest_is_equal && IsOtherEqual(container, resource, plan);
  if (place.guaranteed && allocation.applies_to == AppliesTo::kRequestOnly) {
    LeaveOut(StrCat("the QoS class of its pods is Guaranteed, and ", KeyOf(resource),
                    ".applies_to is request_only: its request has to stay equal to its limit"),
             plan);
    return {};
  }
  const std::string& scaled_by = container.scaled_by[static_cast<size_t>(resource)];
  if (scaled_by.empty()) return PlanAllocation(resource, amount, allocation, place);
  if (const std::string why = WhyRequestMayNotStay(resource, allocation, place, scaled_by); !why.empty()) {
    LeaveOut(why, plan);
    return {};
  }
  LeaveOut(StayText(resource, scaled_by), plan);
  place.request_stays = true;
  return PlanAllocation(resource, amount, allocation, place);
}

}  // namespace

bool KnowsContainer(const Json& job) { return Child(job, "container") != nullptr; }

ExportPlan PlanExport(const PatchOptions& options, const Json& job) {
  ExportPlan out;
  const std::optional<TemplateContainer> container = ContainerOf(job);
  for (const Resource r : kResources) {
    const ResourceFields fields = r == Resource::kCpu ? options.cpu : options.memory;
    const std::optional<double> recommended = AmountOf(job, KeyOf(r), "would_be");
    if (fields == ResourceFields::kNone || !recommended.has_value()) continue;
    const double amount = WholeUnits(r, *recommended);
    const bool of_request = IsOfRequest(job, KeyOf(r));
    const Allocation allocation = AllocationOf(job, r);
    ContainerResources plan;
    if (fields != ResourceFields::kSettings) {
      // A recommendation for requests leaves the limit unchanged.
      plan = ByFields(of_request ? ResourceFields::kRequests : fields, amount);
      const std::string scaled_by = container.has_value() ? container->scaled_by[static_cast<size_t>(r)] : "";
      if (!scaled_by.empty() && plan.request.has_value()) {
        LeaveOut(StayText(r, scaled_by), out);
        plan.request.reset();
      }
    } else if (container.has_value()) {
      plan = PlanKnown(r, amount, allocation, *container, out);
    } else {
      plan = PlanUnknown(r, amount, allocation, job);
    }
    (r == Resource::kCpu ? out.cpu : out.memory) = InWholeUnits(r, plan);
  }
  return out;
}

std::string QuantityText(Resource resource, double amount) {
  if (InCores(resource)) return StrCat(MilliCores(amount), "m");
  const int64_t bytes = WholeBytes(amount);
  const auto mebibyte = static_cast<int64_t>(kMiB);
  return bytes % mebibyte == 0 ? StrCat(bytes / mebibyte, "Mi") : StrCat(bytes);
}

}  // namespace taut::tools
