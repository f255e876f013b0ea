#include "server/config/replica_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "server/config/daemon_config.h"

namespace taut::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<ReplicaFile> ParseReplicas(std::string_view yaml) {
  brain::JobPolicy defaults;
  defaults.replicas.signals = {"queue"};
  return ParseReplicaFile(yaml, "s.yaml", defaults);
}
std::string ReplicaFileError(std::string_view yaml) {
  return std::string(Message(ParseReplicas(yaml).status()));
}

TEST(ReplicaFile, HasTheJobSettingsOfReplicasFlatOrNested) {
  for (const char* yaml : {"replicas.policy: hpa\nreplicas.hpa.target: \"0.6\"\nreplicas.startup: 12m\n",
                           "replicas:\n  policy: hpa\n  hpa: {target: 0.6}\n  startup: 12m\n"}) {
    const absl::StatusOr<ReplicaFile> file = ParseReplicas(yaml);
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(file->policy.replica_policy, "hpa");
    EXPECT_EQ(file->policy.replicas.hpa.target, 0.6);
    EXPECT_EQ(file->policy.replicas.startup_s, 720);
    EXPECT_THAT(file->keys, ElementsAre("replicas.policy", "replicas.hpa.target", "replicas.startup"));
  }
  EXPECT_EQ(ParseReplicas("replicas.function.target: queue / 5\n")->policy.replicas.function.target,
            "queue / 5");
}

TEST(ReplicaFile, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(
      ReplicaFileError("replicas.policy: hpa\nreplicas.hpa.targt: 1\n"),
      HasSubstr("s.yaml:2: unknown key \"replicas.hpa.targt\"; did you mean \"replicas.hpa.target\"?"));
  EXPECT_THAT(ReplicaFileError("mode: auto\n"), HasSubstr("s.yaml:1: unknown key \"mode\""));
  EXPECT_THAT(ReplicaFileError("\nreplicas.hpa.target: much\n"), HasSubstr("s.yaml:2: "));
  EXPECT_THAT(ReplicaFileError("ensemble:\n  w_over: 100\n"), HasSubstr("s.yaml:"));
  EXPECT_THAT(ReplicaFileError(""), HasSubstr("s.yaml: there are no settings"));
  EXPECT_THAT(ReplicaFileError("[1, 2]\n"), HasSubstr("s.yaml:1: "));
}

}  // namespace
}  // namespace taut::server
