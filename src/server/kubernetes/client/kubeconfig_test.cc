#include "server/kubernetes/client/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "common/base/strings.h"
#include "common/testing/temp_dir.h"

namespace taut::server {
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
  EXPECT_THAT(error(full, "client-key: keys/u.key", "auth-provider: {name: gcp}"),
              HasSubstr("config:11: auth-provider is not supported"));
  EXPECT_THAT(error(full, "certificate-authority-data: Q0E=", "insecure-skip-tls-verify: true"),
              HasSubstr("insecure-skip-tls-verify is not supported"));
  EXPECT_THAT(error(full, "users:", "users: ["), HasSubstr("config:"));
  EXPECT_FALSE(ParseKubeconfig("", "config", "").ok());
  EXPECT_FALSE(ParseKubeconfig("- a", "config", "").ok());
  EXPECT_TRUE(absl::IsNotFound(ReadKubeconfig("/nowhere/config").status()));
}

std::string WithExec(std::string_view exec, std::string_view cluster = "server: \"https://b\"") {
  return StrCat(
      "current-context: c\ncontexts: [{name: c, context: {cluster: b, user: u}}]\nclusters: [{name: b, "
      "cluster: {",
      cluster, "}}]\nusers: [{name: u, user: ", exec, "}]\n");
}

TEST(Kubeconfig, ReadsCredentialPlugins) {
  const auto access = ParseKubeconfig(
      WithExec("{exec: {apiVersion: client.authentication.k8s.io/v1, command: ../bin/login, args: [get, \"a "
               "b\", 7], "
               "env: [{name: A, value: b}, {name: EMPTY, value: \"\"}], interactiveMode: IfAvailable, "
               "provideClusterInfo: true, installHint: install it}}"),
      "config", "/home/u/.kube");
  ASSERT_TRUE(access.ok()) << access.status();
  const ExecPlugin& plugin = access->plugin;
  EXPECT_EQ(plugin.api_version, kExecV1);
  EXPECT_EQ(plugin.command, "/home/u/.kube/../bin/login");
  EXPECT_THAT(plugin.arguments, testing::ElementsAre("get", "a b", "7"));
  EXPECT_THAT(plugin.environment, testing::ElementsAre(testing::Pair("A", "b"), testing::Pair("EMPTY", "")));
  EXPECT_EQ(plugin.install_hint, "install it");
  EXPECT_TRUE(plugin.wants_cluster);
  EXPECT_EQ(access->credentials, nullptr) << "it does not run yet";
  // Tools of cloud providers write the entry in this form.
  const auto beta =
      ParseKubeconfig(WithExec("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: aws, "
                               "args: null, env: null, provideClusterInfo: false}}"),
                      "config", "/home/u/.kube");
  ASSERT_TRUE(beta.ok()) << beta.status();
  EXPECT_EQ(beta->plugin.api_version, kExecV1Beta1);
  EXPECT_EQ(beta->plugin.command, "aws");
  EXPECT_FALSE(beta->plugin.wants_cluster);
}

TEST(Kubeconfig, SaysWhatIsWrongWithAPlugin) {
  const auto error = [](std::string_view user, std::string_view cluster = "server: \"https://b\"") {
    return std::string(Message(ParseKubeconfig(WithExec(user, cluster), "config", "").status()));
  };
  const auto v1 = [&](std::string_view rest) {
    return error(StrCat("{exec: {apiVersion: client.authentication.k8s.io/v1, ", rest, "}}"));
  };
  EXPECT_EQ(error("{exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: a}}"),
            "config:4: exec has apiVersion \"client.authentication.k8s.io/v1alpha1\": expected "
            "client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1");
  EXPECT_THAT(error("{exec: {command: a}}"), HasSubstr("exec has apiVersion \"\""));
  EXPECT_THAT(error("{exec: aws}"), HasSubstr("config:4: exec: expected a map"));
  EXPECT_THAT(v1("interactiveMode: Never"), HasSubstr("exec has no command"));
  EXPECT_THAT(v1("command: a"), HasSubstr("exec has no interactiveMode: expected Never or IfAvailable"));
  EXPECT_THAT(
      v1("command: a, interactiveMode: Always"),
      HasSubstr("exec has interactiveMode Always: expected Never or IfAvailable, as there is no terminal"));
  EXPECT_THAT(v1("command: a, interactiveMode: Never, provideClusterInfo: maybe"),
              HasSubstr("provideClusterInfo: expected true or false"));
  EXPECT_THAT(v1("command: a, interactiveMode: Never, args: x"), HasSubstr("exec.args: expected a list"));
  EXPECT_THAT(v1("command: a, interactiveMode: Never, args: [[x]]"), HasSubstr("exec.args: expected a list"));
  EXPECT_THAT(v1("command: a, interactiveMode: Never, args: [\"a\\0b\"]"), HasSubstr("zero byte"));
  EXPECT_THAT(v1("command: a, interactiveMode: Never, env: {a: b}"), HasSubstr("exec.env: expected a list"));
  EXPECT_THAT(v1("command: a, interactiveMode: Never, env: [a]"), HasSubstr("exec.env: expected {name"));
  EXPECT_THAT(v1("command: a, interactiveMode: Never, env: [{name: a=b, value: c}]"),
              HasSubstr("no = in the name"));
  const std::string good =
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: a, interactiveMode: Never, "
      "provideClusterInfo: true}";
  EXPECT_EQ(error(StrCat("{", good, "}")), "");
  EXPECT_THAT(error(StrCat("{", good, ", token: t}")), HasSubstr("token and exec are set: expected one way"));
  EXPECT_THAT(error(StrCat("{", good, ", client-certificate: f}")),
              HasSubstr("client-certificate and exec are set"));
  EXPECT_THAT(
      error(StrCat("{", good, "}"),
            "server: \"https://b\", extensions: [{name: client.authentication.k8s.io/exec, extension: {}}]"),
      HasSubstr("the extension client.authentication.k8s.io/exec is not supported"));
}

TEST(Kubeconfig, APluginsCommandIsRelativeToTheFile) {
  const TempDir dir;
  const auto access = ReadKubeconfig(dir.Write(
      "config", WithExec("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: ./login}}")));
  ASSERT_TRUE(access.ok()) << access.status();
  EXPECT_EQ(access->plugin.command, StrCat(dir.path(), "/./login"));
  ClusterAccess missing = *access;
  missing.plugin.install_hint = "see the wiki";
  const absl::Status status = OpenCredentials(missing, {"PATH=/bin"}, [] { return Timestamp(); });
  EXPECT_TRUE(absl::IsNotFound(status)) << status;
  EXPECT_THAT(std::string(Message(status)), HasSubstr("a program that this user may run: see the wiki"));
  EXPECT_EQ(missing.credentials, nullptr);
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
}  // namespace taut::server
