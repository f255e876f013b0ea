// The table of permissions: which role may do what. docs/operate/security.md, "Roles", has the same table for
// people; a test compares both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/net/http.h"

namespace taut::server {

// Permission that a route requires. For a caller bound to groups it holds for these groups only.
enum class Act : uint8_t {
  kLook,          // the pages, the API's description, what the caller may do
  kSeeJobs,       // usage, limits, decisions, OOM kills, tier acts, events, settings and what-if of jobs
  kSeeQuota,      // quota, requests for it, and whether one would be admitted
  kSeeMoney,      // costs, bills, budgets, and what limits save in money
  kMoveMoney,     // transfers, splits and the end of money of businesses and groups
  kGrantMoney,    // more money, overrides, and what is frozen
  kSetJobs,       // settings of jobs
  kMakeRequests,  // requests for quota, and the end of one's own
  kEndRequests,   // the end of others' requests
  kSeePlatform,   // machines, metrics, totals over time: data that belongs to no single group
  kWriteSamples,
  kRunPlatform,  // tautd itself: confirming that its clock is right
};
inline constexpr int kNumActs = 12;

// A row of the table.
struct Permission {
  Act act;
  std::string_view name;  // "see_jobs": as in the API's field `may`
  std::string_view what;  // "see jobs": for the docs and sentences
  std::string_view who;   // role names separated by commas: "reader, platform, operator, member"
};
std::span<const Permission> Permissions();
const Permission& PermissionOf(Act act);

// True if the role may do this for everything. kGroup may only kLook.
bool May(Role role, Act act);
// True if the role may do this in its own group.
bool May(GroupRole role, Act act);
// True if the caller may do this for everything, or for one group at least.
bool May(const HttpRequest& caller, Act act);

// "role operator required (to confirm the clock); this token is of role member of shop". If several roles
// suffice, the text begins with "role of these required: ".
std::string RefusalText(const HttpRequest& caller, Act act);
// "member of shop, owner of media", or "reader".
std::string RolesText(const HttpRequest& caller);

}  // namespace taut::server
