#include "server/kubernetes/client/exec_plugin.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "common/net/self_signed.h"
#include "common/testing/temp_dir.h"

namespace taut::server {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string Answer(std::string_view status, std::string_view version = kExecV1) {
  return StrCat(R"({"kind":"ExecCredential","apiVersion":")", version,
                R"(","spec":{"interactive":false},"status":)", status, "}");
}

TEST(ExecCredential, IsATokenOrACertificate) {
  const auto token = ParseExecCredential(
      Answer(R"({"token":"abc","expirationTimestamp":"2023-11-14T23:13:20+01:00"})"), kExecV1);
  ASSERT_TRUE(token.ok()) << token.status();
  EXPECT_EQ(token->token, "abc");
  EXPECT_EQ(token->expires, Timestamp::FromSeconds(1'700'000'000));
  const auto both = ParseExecCredential(
      Answer(R"({"token":"abc","clientCertificateData":"C","clientKeyData":"K","expirationTimestamp":null})",
             kExecV1Beta1),
      kExecV1Beta1);
  ASSERT_TRUE(both.ok()) << both.status();
  EXPECT_EQ(both->certificate_pem, "C");
  EXPECT_EQ(both->key_pem, "K");
  EXPECT_FALSE(both->expires.has_value());
}

TEST(ExecCredential, SaysWhatWasThereAndWhatIsAllowed) {
  const auto error = [](std::string_view json) {
    const absl::Status status = ParseExecCredential(json, kExecV1).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
    return std::string(Message(status));
  };
  EXPECT_EQ(error("secret"), "its output (6 bytes) is not a JSON object: expected an ExecCredential");
  EXPECT_THAT(error("[]"), HasSubstr("is not a JSON object"));
  EXPECT_THAT(error(""), HasSubstr("(0 bytes)"));
  EXPECT_EQ(error(R"({"kind":"Status"})"), "its output has kind \"Status\": expected \"ExecCredential\"");
  EXPECT_THAT(error("{}"), HasSubstr("has kind none"));
  EXPECT_EQ(error(Answer("{}", kExecV1Beta1)),
            "its output has apiVersion \"client.authentication.k8s.io/v1beta1\": expected "
            "\"client.authentication.k8s.io/v1\", as in the kubeconfig");
  EXPECT_THAT(error(Answer("null")), HasSubstr("has no status"));
  EXPECT_THAT(error(Answer("{}")), HasSubstr("has no credential: expected status.token, or"));
  EXPECT_THAT(error(Answer(R"({"token":""})")), HasSubstr("has no credential"));
  EXPECT_THAT(error(Answer(R"({"token":7})")), HasSubstr("has a status.token that is not a text"));
  EXPECT_THAT(error(Answer(R"({"clientKeyData":"K"})")), HasSubstr("has status.clientKeyData alone"));
  EXPECT_THAT(error(Answer(R"({"clientCertificateData":"C"})")),
              HasSubstr("has status.clientCertificateData alone"));
  EXPECT_THAT(error(Answer(R"({"token":"a\r\nHost: b"})")), HasSubstr("other than visible ASCII"));
  EXPECT_THAT(error(Answer(R"({"token":"a","expirationTimestamp":"soon"})")),
              HasSubstr("expirationTimestamp \"soon\": expected a time of RFC 3339"));
}

TEST(ExecPlugin, IsToldOfTheClusterOnlyIfItAsks) {
  ExecPlugin plugin;
  plugin.api_version = kExecV1;
  plugin.command = "c";
  const ExecCluster cluster{"https://b:6443", "CA"};
  EXPECT_EQ(
      ExecInfo(plugin, cluster),
      R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","spec":{"interactive":false}})");
  plugin.wants_cluster = true;
  JsonTree tree;
  ASSERT_TRUE(tree.Parse(ExecInfo(plugin, cluster)).ok());
  const JsonNode spec = tree.root()["spec"];
  EXPECT_FALSE(spec["interactive"].flag().value_or(true));
  EXPECT_EQ(spec["cluster"].Text("server"), "https://b:6443");
  EXPECT_EQ(spec["cluster"].Text("certificate-authority-data"), "Q0E=");
  ASSERT_TRUE(tree.Parse(ExecInfo(plugin, {"https://b", ""})).ok());
  EXPECT_FALSE(tree.root()["spec"]["cluster"]["certificate-authority-data"]) << "the system's CAs";
}

class ExecPluginRun : public testing::Test {
 protected:
  void SetUp() override {
    plugin_.api_version = kExecV1;
    plugin_.command = "taut-login";
  }
  void WriteScript(std::string_view script) {
    std::filesystem::permissions(dir_.Write("bin/taut-login", StrCat("#!/bin/sh\n", script)),
                                 std::filesystem::perms::owner_all);
  }
  absl::StatusOr<Credential> Run() {
    absl::StatusOr<ChildCommand> command =
        ExecCommand(plugin_, {"https://b", ""},
                    {StrCat("PATH=/nowhere:.:", dir_.path(), "/bin:/usr/bin:/bin"), "A=1", "B=1"});
    if (!command.ok()) return command.status();
    command->timeout = timeout_;
    return RunExecPlugin(plugin_, *command, stopping_);
  }
  std::string Error() { return std::string(Message(Run().status())); }

  const TempDir dir_;
  ExecPlugin plugin_;
  std::chrono::milliseconds timeout_ = std::chrono::seconds(60);
  std::atomic<bool> stopping_ = false;
};

TEST_F(ExecPluginRun, HasItsArgumentsAndItsEnvironment) {
  plugin_.arguments = {"get", "token"};
  plugin_.environment = {{"A", "2"}, {"KUBERNETES_EXEC_INFO", "mine"}};
  WriteScript(StrCat("echo \"$1,$2,$A,$B\" >", dir_.File("said"), "\necho \"$KUBERNETES_EXEC_INFO\" >",
                     dir_.File("info"), "\nprintf '%s' '", Answer(R"({"token":"abc"})"), "'"));
  const auto got = Run();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->token, "abc");
  std::string said, info;
  std::getline(std::ifstream(dir_.File("said")), said);
  std::getline(std::ifstream(dir_.File("info")), info);
  EXPECT_EQ(said, "get,token,2,1");
  EXPECT_EQ(info, ExecInfo(plugin_, {"https://b", ""}));
}

TEST_F(ExecPluginRun, SaysWhatFailed) {
  plugin_.install_hint = "Install login:\n  apt install login\x1b[1m";
  const absl::Status missing = Run().status();
  EXPECT_TRUE(absl::IsNotFound(missing));
  EXPECT_EQ(
      std::string(Message(missing)),
      "credential plugin taut-login: expected a program that this user may run, in a folder of PATH: Install "
      "login:\n  apt install login\\x1b[1m");
  WriteScript("echo no session >&2; exit 1");
  EXPECT_EQ(Error(), "credential plugin taut-login: it ended with exit code 1: no session");
  WriteScript("echo garbage; echo try again >&2");
  EXPECT_EQ(Error(),
            "credential plugin taut-login: its output (8 bytes) is not a JSON object: expected an "
            "ExecCredential; its "
            "standard error: try again");
  WriteScript("head -c 2097152 /dev/zero");
  EXPECT_TRUE(absl::IsResourceExhausted(Run().status()));
  timeout_ = std::chrono::milliseconds(200);
  WriteScript("sleep 600");
  EXPECT_TRUE(absl::IsDeadlineExceeded(Run().status()));
  std::filesystem::permissions(dir_.File("bin/taut-login"), std::filesystem::perms::owner_read);
  EXPECT_TRUE(absl::IsNotFound(Run().status())) << "not even root may run what nobody may";
}

TEST_F(ExecPluginRun, ACertificateMustFitItsKey) {
  const std::string name = "client";
  const auto one = MakeSelfSigned(std::span(&name, 1), 1'700'000'000, 3600);
  const auto other = MakeSelfSigned(std::span(&name, 1), 1'700'000'000, 3600);
  ASSERT_TRUE(one.ok() && other.ok());
  const auto answer = [this](std::string certificate, std::string key) {
    const auto line = [](std::string& pem) {
      for (size_t at = 0; (at = pem.find('\n', at)) != std::string::npos;) pem.replace(at, 1, "\\n");
    };
    line(certificate);
    line(key);
    WriteScript(StrCat(
        "cat <<'END'\n",
        Answer(StrCat(R"({"clientCertificateData":")", certificate, R"(","clientKeyData":")", key, R"("})")),
        "\nEND\n"));
  };
  answer(one->certificate_pem, one->key_pem);
  const auto got = Run();
  ASSERT_TRUE(got.ok()) << got.status();
  EXPECT_EQ(got->certificate_pem, one->certificate_pem);
  answer(one->certificate_pem, other->key_pem);
  EXPECT_THAT(Error(), HasSubstr("cannot use the key"));
  answer("no PEM", "at all");
  EXPECT_TRUE(absl::IsInvalidArgument(Run().status()));
  EXPECT_THAT(Error(), AllOf(HasSubstr("cannot use the certificate"), Not(HasSubstr("at all"))));
}

}  // namespace
}  // namespace taut::server
