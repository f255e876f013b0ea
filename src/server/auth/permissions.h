// Who may do what: one table. docs/operate/security.md, "Roles", is the same table for people, and a test
// compares both.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "common/net/http.h"

namespace taut::server {

// What a route needs. Of a caller who is bound to groups it means: of these groups.
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
  kSeePlatform,   // machines, metrics, totals over time: what is not of one group
  kWriteSamples,
  kRunPlatform,  // what concerns tautd itself: that its clock is right
};
inline constexpr int kNumActs = 12;

// A row of the table.
struct Permission {
  Act act;
  std::string_view name;  // "see_jobs": in the API's `may`
  std::string_view what;  // "see jobs": in the docs, and in sentences
  std::string_view who;   // names of roles with commas between: "reader, platform, operator, member"
};
std::span<const Permission> Permissions();
const Permission& PermissionOf(Act act);

// Whether the role may, of everything. kGroup may nothing of everything but kLook.
bool May(Role role, Act act);
bool May(GroupRole role, Act act);
// Of everything, or of one group at least.
bool May(const HttpRequest& caller, Act act);

// "to see money needs one of the roles reader, platform, operator, owner or budget_holder; this is a member
// of shop"
std::string RefusalText(const HttpRequest& caller, Act act);
// "member of shop, owner of media"; "reader".
std::string RolesText(const HttpRequest& caller);

}  // namespace taut::server
