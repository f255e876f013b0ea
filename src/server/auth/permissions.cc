#include "server/auth/permissions.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/base/printable.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

constexpr std::array<Permission, kNumActs> kPermissions = {{
    {Act::kLook, "look", "see the pages and what one may do",
     "reader, platform, operator, member, owner, budget_holder"},
    {Act::kSeeJobs, "see_jobs", "see jobs, decisions and events",
     "reader, platform, operator, member, owner, budget_holder"},
    {Act::kSeeQuota, "see_quota", "see quota and requests",
     "reader, platform, operator, member, owner, budget_holder"},
    {Act::kSeeMoney, "see_money", "see costs, bills and budgets",
     "reader, platform, operator, owner, budget_holder"},
    {Act::kMoveMoney, "move_money", "move money of budgets", "platform, operator, budget_holder"},
    {Act::kGrantMoney, "grant_money", "grant, override and freeze money of budgets", "platform, operator"},
    {Act::kSetJobs, "set_jobs", "change settings of jobs", "operator, owner"},
    {Act::kMakeRequests, "make_requests", "make requests for quota and end one's own",
     "platform, operator, member, owner"},
    {Act::kEndRequests, "end_requests", "end requests of others", "platform, operator, owner"},
    {Act::kSeePlatform, "see_platform", "see machines, metrics and totals over time",
     "reader, platform, operator"},
    {Act::kWriteSamples, "write_samples", "send samples", "writer, operator"},
    {Act::kRunPlatform, "run_platform", "confirm the clock", "operator"},
}};

bool Lists(std::string_view who, std::string_view role) {
  for (const std::string_view one : Split(who, ',')) {
    if (StripSpace(one) == role) return true;
  }
  return false;
}

}  // namespace

std::span<const Permission> Permissions() { return kPermissions; }

const Permission& PermissionOf(Act act) { return kPermissions[static_cast<size_t>(act)]; }

bool May(Role role, Act act) {
  if (role == Role::kNone) return false;
  if (role == Role::kGroup) return act == Act::kLook;
  return Lists(PermissionOf(act).who, Name(role));
}

bool May(GroupRole role, Act act) { return Lists(PermissionOf(act).who, Name(role)); }

bool May(const HttpRequest& caller, Act act) {
  if (May(caller.role, act)) return true;
  return caller.role == Role::kGroup && caller.bindings != nullptr &&
         std::ranges::any_of(*caller.bindings, [act](const GroupBinding& b) { return May(b.as, act); });
}

std::string RolesText(const HttpRequest& caller) {
  if (caller.role != Role::kGroup || caller.bindings == nullptr) return std::string(Name(caller.role));
  std::string out;
  for (const GroupBinding& b : *caller.bindings)
    StrAppend(&out, out.empty() ? "" : ", ", Name(b.as), " of ", Printable(b.group));
  return out;
}

std::string RefusalText(const HttpRequest& caller, Act act) {
  const Permission& permission = PermissionOf(act);
  const bool one = permission.who.find(',') == std::string_view::npos;
  return StrCat("role ", one ? "" : "of these required: ", permission.who, one ? " required" : "", " (to ",
                permission.what, "); this token is of role ", RolesText(caller));
}

absl::StatusOr<std::string> WhoOf(const HttpRequest& caller) {
  const std::string* const said = caller.parameter("who");
  const std::string claimed = said == nullptr ? "" : *said;
  if (claimed.size() > 100 || !IsPrintableUtf8(claimed))
    return absl::InvalidArgumentError("who: expected printable text of up to 100 bytes");
  std::string who = caller.user;
  if (who.empty()) who = caller.peer.substr(0, caller.peer.rfind(':'));
  if (!claimed.empty() && claimed != who) StrAppend(&who, " (says ", claimed, ")");
  return who;
}

}  // namespace taut::server
