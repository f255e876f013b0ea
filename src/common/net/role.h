// Roles of the senders of requests: of the platform's people and machines, or of the people of groups. The
// table of what each role may do is in server/auth/permissions.h.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace taut {

// Ascending by permissions. A writer may only send samples. kGroup may do what its bindings allow, only in the
// groups of the bindings. A reader may read everything; platform may also act on the quota of every group; an
// operator may do everything.
enum class Role : uint8_t { kNone, kWriter, kGroup, kReader, kPlatform, kOperator };
constexpr std::string_view Name(Role role) {
  constexpr std::array<std::string_view, 6> kNames = {"none",   "writer",   "group",
                                                      "reader", "platform", "operator"};
  return kNames[static_cast<size_t>(role)];
}

enum class GroupRole : uint8_t { kMember, kOwner, kBudgetHolder };
inline constexpr std::array<std::string_view, 3> kGroupRoleNames = {"member", "owner", "budget_holder"};
constexpr std::string_view Name(GroupRole role) { return kGroupRoleNames[static_cast<size_t>(role)]; }
// Returns the role with this name; nullopt if no role has this name.
inline std::optional<GroupRole> GroupRoleNamed(std::string_view name) {
  for (size_t i = 0; i < kGroupRoleNames.size(); ++i) {
    if (kGroupRoleNames[i] == name) return static_cast<GroupRole>(i);
  }
  return std::nullopt;
}

// A role in a group and in all groups below the group.
struct GroupBinding {
  std::string group;
  GroupRole as = GroupRole::kMember;

  bool operator==(const GroupBinding&) const = default;
};
using GroupBindings = std::vector<GroupBinding>;

}  // namespace taut
