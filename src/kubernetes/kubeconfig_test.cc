#include "kubernetes/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "base/strings.h"
#include "testing/temp_dir.h"

namespace taut {
namespace {

using testing::HasSubstr;

constexpr std::string_view kFull = R"(apiVersion: v1
kind: Config
current-context: two
contexts:
- {name: one, context: {cluster: a, user: u}}
- {name: two, context: {cluster: b, user: u}}
clusters:
- {name: a, cluster: {server: "https://a"}}
- {name: b, cluster: {server: "https://b:6443", certificate-authority-data: Q0E=}}
users:
- {name: u, user: {client-certificate-data: Q0VSVA==, client-key: keys/u.key}}
)";

TEST(Kubeconfig, GivesTheCurrentContext) {
  const auto access = ParseKubeconfig(kFull, "config", "/home/u/.kube");
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->server, "https://b:6443");
  EXPECT_EQ(access->ca_pem, "CA");
  EXPECT_EQ(access->certificate_pem, "CERT");
  EXPECT_EQ(access->key_file, "/home/u/.kube/keys/u.key");
  EXPECT_EQ(access->key_pem, "");
}

TEST(Kubeconfig, SaysWhatIsWrongAndWhere) {
  const auto error = [](std::string text, std::string_view from, std::string_view to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    return std::string(Message(ParseKubeconfig(text, "config", "").status()));
  };
  const std::string full(kFull);
  EXPECT_EQ(error(full, "current-context: two", "current-context: tow"),
            "config:5: no entry \"tow\" in contexts");
  EXPECT_THAT(error(full, "current-context: two\n", ""), HasSubstr("no current-context"));
  EXPECT_EQ(error(full, "server: \"https://b:6443\", ", ""), "config:9: the cluster has no server");
  EXPECT_EQ(error(full, "Q0E=", "a.b"), "config:9: certificate-authority-data is not base64");
  EXPECT_THAT(error(full, "client-key: keys/u.key", "exec: {command: aws}"),
              HasSubstr("config:11: exec is not supported"));
  EXPECT_THAT(error(full, "certificate-authority-data: Q0E=", "insecure-skip-tls-verify: true"),
              HasSubstr("insecure-skip-tls-verify is not supported"));
  EXPECT_THAT(error(full, "users:", "users: ["), HasSubstr("config:"));
  EXPECT_FALSE(ParseKubeconfig("", "config", "").ok());
  EXPECT_FALSE(ParseKubeconfig("- a", "config", "").ok());
  EXPECT_TRUE(absl::IsNotFound(ReadKubeconfig("/nowhere/config").status()));
}

TEST(InCluster, TakesTheServiceAccount) {
  const TempDir dir;
  std::map<std::string, std::string> variables;
  const auto environment = [&variables](const char* name) { return variables[name]; };
  EXPECT_THAT(std::string(Message(InClusterAccess(environment, dir.path()).status())),
              HasSubstr("this is not a pod"));
  variables = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  EXPECT_THAT(std::string(Message(InClusterAccess(environment, dir.path()).status())),
              HasSubstr("automountServiceAccountToken"));
  std::ofstream(StrCat(dir.path(), "/ca.crt")) << "CA";
  std::ofstream(StrCat(dir.path(), "/token")) << "t";
  const auto access = InClusterAccess(environment, dir.path());
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->server, "https://[fd00::1]:443");
  EXPECT_EQ(access->token_file, StrCat(dir.path(), "/token"));
}

}  // namespace
}  // namespace taut
