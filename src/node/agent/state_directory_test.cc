#include "node/agent/state_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "common/base/strings.h"
#include "common/testing/temp_dir.h"

namespace taut::node {
namespace {

using ::testing::HasSubstr;

TEST(StateDirectory, OneAgentHasIt) {
  const TempDir dir;
  const std::string state = dir.File("new/state");
  EXPECT_TRUE(CheckStateDirectory(state).ok());
  EXPECT_FALSE(std::filesystem::exists(state)) << "a check creates nothing";
  ASSERT_TRUE(LockStateDirectory(state).ok());
  const absl::Status second = LockStateDirectory(state);
  EXPECT_TRUE(absl::IsUnavailable(second));
  EXPECT_EQ(Message(second), StrCat("another tautlet uses ", state));
  EXPECT_TRUE(CheckStateDirectory(state).ok());
}

TEST(StateDirectory, AFileInItsPlaceIsNamed) {
  const TempDir dir;
  std::ofstream(dir.File("file")) << "x";
  const std::string state = dir.File("file/state");
  EXPECT_EQ(Message(CheckStateDirectory(state)), StrCat(dir.File("file"), " is not a directory"));
  EXPECT_THAT(Message(LockStateDirectory(state)), HasSubstr("name another directory with --state"));
}

TEST(StateDirectory, ADirectoryOfAnotherUserIsNamed) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  EXPECT_THAT(Message(CheckStateDirectory("/proc/state")), HasSubstr("cannot write /proc: "));
}

}  // namespace
}  // namespace taut::node
