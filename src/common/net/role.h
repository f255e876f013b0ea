// What the sender of a request is to the daemon: one of the platform's people or machines, or one of the people of
// groups. What each may do is a table of its own (server/auth/permissions.h).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taut {

// A writer may only send samples. kGroup: what its bindings say, and nothing of other groups. A reader may look at
// everything; platform also acts on the quota of every group; an operator may do all. Ascending by what they may.
enum class Role : uint8_t { kNone, kWriter, kGroup, kReader, kPlatform, kOperator };
constexpr std::string_view Name(Role role) {
  constexpr std::array<std::string_view, 6> kNames = {"none",   "writer",   "group",
                                                      "reader", "platform", "operator"};
  return kNames[static_cast<size_t>(role)];
}

enum class GroupRole : uint8_t { kMember, kOwner, kBudgetHolder };
inline constexpr std::array<std::string_view, 3> kGroupRoleNames = {"member", "owner", "budget_holder"};
constexpr std::string_view Name(GroupRole role) { return kGroupRoleNames[static_cast<size_t>(role)]; }
inline std::optional<GroupRole> GroupRoleNamed(std::string_view name) {
  for (size_t i = 0; i < kGroupRoleNames.size(); ++i) {
    if (kGroupRoleNames[i] == name) return static_cast<GroupRole>(i);
  }
  return std::nullopt;
}

// Of a group and of all groups below it.
struct GroupBinding {
  std::string group;
  GroupRole as = GroupRole::kMember;

  bool operator==(const GroupBinding&) const = default;
};
using GroupBindings = std::vector<GroupBinding>;

}  // namespace taut
