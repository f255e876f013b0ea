#include "server/pool/quota_access.h"

#include <utility>

#include "common/base/printable.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/base/whole_number.h"
#include "common/model/units.h"

namespace taut::server {
namespace {

constexpr int64_t kMaxTasks = 1'000'000'000;

// Returns true if the caller made the request or changed it last. Compares names in the format of WhoOf().
bool IsOf(const HttpRequest& caller, const brain::QuotaRequest& request) {
  if (caller.user.empty()) return false;
  return request.who == caller.user || request.who.starts_with(StrCat(caller.user, " (says "));
}

absl::Status Allowed(const HttpRequest& caller, Act act) {
  return May(caller, act) ? absl::OkStatus() : absl::PermissionDeniedError(RefusalText(caller, act));
}

}  // namespace

absl::Status AskedQuota::Set(std::string_view field, const std::string& text) {
  const auto bad = [&](std::string_view what) {
    return absl::InvalidArgumentError(
        StrCat("invalid ", ShortText(field), " \"", ShortText(text), "\": expected ", what));
  };
  const auto whole = [&](int64_t low, int64_t high, int64_t& to) {
    const std::optional<int64_t> value = WholeNumber(text);
    if (!value.has_value() || *value < low || *value > high)
      return bad(StrCat("a whole number from ", low, " to ", high));
    to = *value;
    return absl::OkStatus();
  };
  if (field == "group") return (request.group = text, absl::OkStatus());
  if (field == "tier") return (request.tier = text, absl::OkStatus());
  if (field == "job") return (job = text, absl::OkStatus());
  if (field == "tasks") return whole(1, kMaxTasks, request.tasks);
  if (field == "priority") {
    int64_t priority = 0;
    if (absl::Status s = whole(INT32_MIN, INT32_MAX, priority); !s.ok()) return s;
    request.priority = static_cast<int32_t>(priority);
    return absl::OkStatus();
  }
  if (field == "duration") {
    const absl::StatusOr<double> seconds = ParseDurationSeconds(text);
    if (!seconds.ok()) return bad("a duration such as 2h or 90min");
    request.duration_s = static_cast<int64_t>(*seconds);
    return absl::OkStatus();
  }
  constexpr size_t kMaxKey = 63, kMaxResources = 16;
  if (field.size() > kMaxKey || Printable(field) != field ||
      request.per_task.amounts().size() >= kMaxResources) {
    return absl::InvalidArgumentError(StrCat("invalid resource: expected at most ", kMaxResources,
                                             ", with names of at most ", kMaxKey, " printable characters"));
  }
  const absl::StatusOr<int64_t> amount = brain::ParseQuotaAmount(field, text);
  if (!amount.ok()) return absl::InvalidArgumentError(StrCat(field, ": ", Message(amount.status())));
  request.per_task.Set(field, *amount);
  return absl::OkStatus();
}

absl::Status AskedQuota::Check() const {
  constexpr size_t kMaxName = 300;
  if (request.group.empty()) return absl::InvalidArgumentError("group is missing");
  if (request.tier.empty()) return absl::InvalidArgumentError("tier is missing");
  if (request.per_task.empty())
    return absl::InvalidArgumentError("nothing is asked for: expected cpu, memory or another resource");
  if (job.size() > kMaxName) {
    return absl::InvalidArgumentError(
        StrCat("job is ", job.size(), " bytes long: expected at most ", kMaxName));
  }
  for (const auto& [what, text] :
       {std::pair("group", &request.group), std::pair("tier", &request.tier), std::pair("job", &job)}) {
    if (!IsPrintableUtf8(*text))
      return absl::InvalidArgumentError(StrCat("invalid ", what, " \"", ShortText(Printable(*text)),
                                               "\": expected UTF-8 without control characters"));
  }
  return absl::OkStatus();
}

absl::Status NoGroup(std::string_view group, const Reach& reach) {
  std::string text = StrCat("no group \"", ShortText(group), "\" of yours");
  if (!reach.groups().empty()) StrAppend(&text, ": expected ", Join(reach.groups(), ", "), " or one below");
  return absl::NotFoundError(text);
}

absl::StatusOr<brain::AdmissionVerdict> QuotaAccess::Decide(const HttpRequest& caller,
                                                            const AskedQuota& asked) const {
  if (absl::Status s = Allowed(caller, Act::kSeeQuota); !s.ok()) return s;
  const Reach seen = ReachOf(caller, Act::kSeeQuota);
  if (!seen.Has(asked.request.group)) return NoGroup(asked.request.group, seen);
  return service_.Decide(asked.request, asked.job);
}

absl::StatusOr<brain::QuotaRequest> QuotaAccess::Submit(const HttpRequest& caller,
                                                        const AskedQuota& asked) const {
  if (absl::Status s = Allowed(caller, Act::kMakeRequests); !s.ok()) return s;
  const absl::StatusOr<std::string> who = WhoOf(caller);
  if (!who.ok()) return who.status();
  const Reach reach = ReachOf(caller, Act::kMakeRequests);
  if (!reach.Has(asked.request.group)) {
    // The caller may see this group, so the error is not NotFound.
    if (ReachOf(caller, Act::kSeeQuota).Has(asked.request.group))
      return absl::PermissionDeniedError(RefusalText(caller, Act::kMakeRequests));
    return NoGroup(asked.request.group, reach);
  }
  return service_.Submit(asked.request, asked.job, *who);
}

absl::StatusOr<brain::QuotaRequest> QuotaAccess::Find(const HttpRequest& caller, int64_t id) const {
  if (absl::Status s = Allowed(caller, Act::kSeeQuota); !s.ok()) return s;
  if (id < 0) return absl::NotFoundError("invalid request: expected its number");
  const Reach seen = ReachOf(caller, Act::kSeeQuota);
  absl::StatusOr<brain::QuotaRequest> found = service_.Find(static_cast<uint64_t>(id));
  if (seen.all() || (found.ok() && seen.Has(found->asked.group))) return found;
  return absl::NotFoundError(StrCat("no request ", id, " of your groups"));
}

absl::StatusOr<brain::QuotaRequest> QuotaAccess::Withdraw(const HttpRequest& caller, int64_t id) const {
  if (absl::Status s = Allowed(caller, Act::kMakeRequests); !s.ok()) return s;
  const absl::StatusOr<std::string> who = WhoOf(caller);
  if (!who.ok()) return who.status();
  // A request that the caller may see but not end is refused, not reported as missing.
  const absl::StatusOr<brain::QuotaRequest> found = Find(caller, id);
  if (!found.ok()) return found;
  const bool any = ReachOf(caller, Act::kEndRequests).Has(found->asked.group);
  const bool own = ReachOf(caller, Act::kMakeRequests).Has(found->asked.group) && IsOf(caller, *found);
  if (!any && !own) {
    return absl::PermissionDeniedError(StrCat("request ", found->id, " is of ", Printable(found->who), ": ",
                                              RefusalText(caller, Act::kEndRequests)));
  }
  return service_.Withdraw(found->id, *who);
}

}  // namespace taut::server
