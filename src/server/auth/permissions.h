// The table of permissions, which lists the acts that each role permits. docs/operate/security.md, "Roles", has
// the same table for users, and a test compares both tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "common/net/http.h"

namespace taut::server {

// Permission that a route requires. A caller who is bound to groups has the permission for these groups only.
enum class Act : uint8_t {
  kLook,          // viewing the pages, the API's description, and the caller's own permissions
  kSeeJobs,       // reading usage, limits, decisions, OOM kills, acts, events, settings and what-if of jobs
  kSeeQuota,      // reading quota and requests for quota, and checking whether a request would be admitted
  kSeeMoney,      // reading costs, bills, budgets, and the money that limits save
  kMoveMoney,     // transferring, splitting and expiring money of businesses and groups
  kGrantMoney,    // granting, overriding and freezing money of budgets
  kSetJobs,       // changing settings of jobs
  kMakeRequests,  // making requests for quota, and ending the caller's own requests
  kEndRequests,   // ending the requests of other people
  kSeePlatform,   // reading machines, metrics and totals over time, which belong to no single group
  kWriteSamples,
  kRunPlatform,  // operating tautd itself: confirming that its clock is right
};
inline constexpr int kNumActs = 12;

// One row of the table of permissions.
struct Permission {
  Act act;
  std::string_view name;  // value in the API's field `may`, such as "see_jobs"
  std::string_view what;  // text for documents and sentences, such as "see jobs"
  std::string_view who;   // role names separated by commas, such as "reader, platform, operator, member"
};
std::span<const Permission> Permissions();
const Permission& PermissionOf(Act act);

// Returns true if the role permits the act for the whole cell. kGroup permits only kLook.
bool May(Role role, Act act);
// Returns true if the role permits the act in the role's own group.
bool May(GroupRole role, Act act);
// Returns true if the caller may perform the act for the whole cell or for at least one group.
bool May(const HttpRequest& caller, Act act);

// Returns a refusal, such as "role operator required (to confirm the clock); this token is of role member of
// shop". If several roles suffice, the text begins with "role of these required: ".
std::string RefusalText(const HttpRequest& caller, Act act);
// Returns the caller's roles, such as "member of shop, owner of media" or "reader".
std::string RolesText(const HttpRequest& caller);
// Returns the text that identifies the caller in the record of a change: the name of the token, or else the
// address. Appends the text that the client sends in `who=`, marked as the client's own. Returns InvalidArgument
// if `who` is too long or not printable.
absl::StatusOr<std::string> WhoOf(const HttpRequest& caller);

}  // namespace taut::server
