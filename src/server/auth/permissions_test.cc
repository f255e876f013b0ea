// Tests that each role has exactly the permissions that the documentation lists.
#include "server/auth/permissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>

#include "common/base/strings.h"

namespace taut::server {
namespace {

std::vector<std::string> Cells(std::string_view line) {
  std::vector<std::string> out;
  for (const std::string_view cell : Split(line, '|')) out.emplace_back(StripSpace(cell));
  return {out.begin() + 1, out.end() - 1};
}

// Reads the permissions by role from the table in docs/operate/security.md, "Roles".
std::map<std::string, std::set<std::string>> TableOfDocs() {
  std::ifstream file("docs/operate/security.md");
  std::map<std::string, std::set<std::string>> out;
  std::vector<std::string> roles;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("| may |")) {
      roles = Cells(line);
    } else if (!roles.empty() && line.starts_with("|---")) {
      continue;
    } else if (!roles.empty() && line.starts_with('|')) {
      const std::vector<std::string> cells = Cells(line);
      for (size_t i = 1; i < cells.size(); ++i) {
        if (cells[i] == "yes") out[roles[i]].insert(cells[0]);
      }
    } else if (!roles.empty()) {
      break;
    }
  }
  return out;
}

HttpRequest Bound(GroupBindings bindings) {
  HttpRequest caller;
  caller.role = Role::kGroup;
  caller.bindings = std::make_shared<const GroupBindings>(std::move(bindings));
  return caller;
}

TEST(Permissions, AreWhatTheDocumentSays) {
  std::map<std::string, std::set<std::string>> table;
  for (const Permission& p : Permissions()) {
    EXPECT_EQ(&p, &PermissionOf(p.act));
    for (const Role role : {Role::kWriter, Role::kReader, Role::kPlatform, Role::kOperator}) {
      if (May(role, p.act)) table[std::string(Name(role))].emplace(p.what);
    }
    for (const GroupRole role : {GroupRole::kMember, GroupRole::kOwner, GroupRole::kBudgetHolder}) {
      if (May(role, p.act)) table[std::string(Name(role))].emplace(p.what);
    }
    EXPECT_FALSE(May(Role::kNone, p.act)) << p.name;
    EXPECT_EQ(May(Role::kGroup, p.act), p.act == Act::kLook) << p.name;
  }
  EXPECT_EQ(table, TableOfDocs());
}

TEST(Permissions, ARefusalSaysWhatIsNeededAndWhatIsThere) {
  const HttpRequest mia = Bound({{"shop", GroupRole::kMember}, {"media", GroupRole::kBudgetHolder}});
  EXPECT_FALSE(May(mia, Act::kSetJobs));
  EXPECT_TRUE(May(mia, Act::kSeeMoney));
  EXPECT_EQ(RefusalText(mia, Act::kSetJobs),
            "role of these required: operator, owner (to change settings of jobs); this token is of role "
            "member of shop, budget_holder of media");
}

}  // namespace
}  // namespace taut::server
