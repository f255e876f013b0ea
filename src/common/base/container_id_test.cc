#include "common/base/container_id.h"

#include <string>

#include "gtest/gtest.h"

namespace taut {
namespace {

TEST(ContainerId, IsFoundInPathsOfEveryKind) {
  const std::string id = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
  for (const char* path :
       {"%", "/docker/%", "docker:%", "/system.slice/docker-%.scope",
        "/kubepods/besteffort/pod8f5c7f9e-1b1e-4c5e-9a39-0242ac120002/%",
        "/kubepods.slice/kubepods-pod8f5c.slice/cri-containerd-%.scope", "/docker/%/init"}) {
    std::string text = path;
    text.replace(text.find('%'), 1, id);
    EXPECT_EQ(ContainerIdIn(text), id) << path;
  }
  const std::string other(64, 'a');
  EXPECT_EQ(ContainerIdIn("/docker/" + other + "/docker/" + id), id) << "the innermost";
}

TEST(ContainerId, OtherTextsHaveNone) {
  const std::string id(64, 'b');
  for (const std::string& text : {std::string(), std::string("/"), std::string("/user.slice"), id.substr(1),
                                  id + "0", std::string(64, 'B'), std::string(200, 'f')}) {
    EXPECT_EQ(ContainerIdIn(text), "") << text;
  }
}

}  // namespace
}  // namespace taut
