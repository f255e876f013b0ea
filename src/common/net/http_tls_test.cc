// Tests TLS with certificates that the test creates, and the roles of client certificates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "common/net/raw_client.h"
#include "common/net/server_fixture.h"

namespace taut {
namespace {

using testing::HasSubstr;

bool Succeeds(const std::string& command) { return std::system((command + " >/dev/null 2>&1").c_str()) == 0; }

// Two CAs: the first signs the certificates of a server and a client, and the second signs the certificate of
// another client.
class HttpTlsTest : public ServerFixture {
 protected:
  static void SetUpTestSuite() {
    char name[] = "/tmp/taut-tls-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = new std::string(name);
    made_ = MakeCa("ca") && MakeCa("other") &&
            Sign("server", "ca", "subjectAltName=IP:127.0.0.1,DNS:localhost") &&
            Sign("client", "ca", "keyUsage=digitalSignature") &&
            Sign("stranger", "other", "keyUsage=digitalSignature");
  }
  static void TearDownTestSuite() {
    std::filesystem::remove_all(*folder_);
    delete folder_;
  }
  void SetUp() override {
    if (!made_) GTEST_SKIP() << "the program openssl is not installed";
  }
  void TearDown() override { server_.reset(); }

  static std::string File(const std::string& name) { return *folder_ + "/" + name; }
  static bool MakeCa(const std::string& name) {
    return Succeeds(StrCat(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=", name,
        " -keyout ", File(name + ".key"), " -out ", File(name + ".pem")));
  }
  static bool Sign(const std::string& name, const std::string& ca, const std::string& extension) {
    std::ofstream(File(name + ".ext")) << extension << "\n";
    return Succeeds(StrCat("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=", name,
                           " -keyout ", File(name + ".key"), " -out ", File(name + ".csr"))) &&
           Succeeds(StrCat("openssl x509 -req -days 2 -in ", File(name + ".csr"), " -CA ", File(ca + ".pem"),
                           " -CAkey ", File(ca + ".key"), " -CAcreateserial -extfile ", File(name + ".ext"),
                           " -out ", File(name + ".pem")));
  }

  static ServerOptions Tls() {
    ServerOptions out;
    out.certificate_file = File("server.pem");
    out.key_file = File("server.key");
    return out;
  }
  static ClientOptions As(const std::string& name) {
    ClientOptions out;
    out.ca_file = File("ca.pem");
    if (name.empty()) return out;
    out.certificate_file = File(name + ".pem");
    out.key_file = File(name + ".key");
    return out;
  }
  static HttpResponse SayRole(const HttpRequest& r) {
    return TextResponse(200, StrCat(static_cast<int>(r.role)));
  }
  std::string RoleFor(const ClientOptions& options) {
    const auto answer = Client(options, "https")->Get("/");
    return !answer.ok()            ? std::string(Message(answer.status()))
           : answer->status == 200 ? answer->body
                                   : StrCat(answer->status);
  }

 private:
  static inline std::string* folder_ = nullptr;
  static inline bool made_ = false;
};

TEST_F(HttpTlsTest, AnswersOverOneConnection) {
  Serve(Tls());
  auto client = Client(As(""), "https");
  for (const size_t size : {size_t{0}, size_t{100'000}, size_t{3'000'000}}) {
    const std::string body(size, 'x');
    const auto answer = client->Post("/", body, "text/plain");
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_EQ(answer->body, "POST /\n" + body);
  }
  EXPECT_EQ(server_->counts().accepted, 1U);
}

TEST_F(HttpTlsTest, TheClientTrustsOnlyTheCaItWasGiven) {
  Serve(Tls());
  ClientOptions other = As("");
  other.ca_file = File("other.pem");
  EXPECT_THAT(RoleFor(other), HasSubstr("TLS failed"));
  ClientOptions system = As("");
  system.ca_file.clear();
  EXPECT_THAT(RoleFor(system), HasSubstr("TLS failed"));
}

TEST_F(HttpTlsTest, TheCertificateMustBeForTheHost) {
  ServerOptions options = Tls();
  options.certificate_file = File("client.pem");
  options.key_file = File("client.key");
  Serve(options);
  EXPECT_THAT(RoleFor(As("")), HasSubstr("TLS failed"));
}

std::string NumberOf(Role role) { return StrCat(static_cast<int>(role)); }

TEST_F(HttpTlsTest, MutualTlsKnowsItsClients) {
  ServerOptions options = Tls();
  options.client_ca_file = File("ca.pem");
  options.client_role = Role::kReader;
  Serve(options, SayRole);
  EXPECT_EQ(RoleFor(As("client")), NumberOf(Role::kReader));
  EXPECT_THAT(RoleFor(As("")), HasSubstr("127.0.0.1"));
  EXPECT_THAT(RoleFor(As("stranger")), HasSubstr("127.0.0.1"));
  EXPECT_EQ(server_->counts().answers[2], 1U);
}

TEST_F(HttpTlsTest, TokensStandInForCertificates) {
  ServerOptions options = Tls();
  options.client_ca_file = File("ca.pem");
  options.reader_tokens = {"reader-token-0123"};
  Serve(options, SayRole);
  EXPECT_EQ(RoleFor(As("client")), NumberOf(Role::kOperator));
  EXPECT_EQ(RoleFor(As("")), "401");
  ClientOptions with_token = As("");
  with_token.token = "reader-token-0123";
  EXPECT_EQ(RoleFor(with_token), NumberOf(Role::kReader));
  EXPECT_NE(RoleFor(As("stranger")), NumberOf(Role::kOperator));
}

TEST_F(HttpTlsTest, TakesNewCertificatesWhileItRuns) {
  const ServerOptions options = Tls();
  Serve(options, SayRole);
  EXPECT_EQ(RoleFor(As("")), NumberOf(Role::kOperator));
  ServerOptions other = options;  // a certificate for another host
  other.certificate_file = File("client.pem");
  other.key_file = File("client.key");
  ASSERT_TRUE(server_->Reload(other).ok());
  EXPECT_THAT(RoleFor(As("")), HasSubstr("TLS failed"));
  other.key_file = File("ca.pem");  // not a key file: the reload changes nothing
  EXPECT_FALSE(server_->Reload(other).ok());
  EXPECT_THAT(RoleFor(As("")), HasSubstr("TLS failed"));
  ASSERT_TRUE(server_->Reload(options).ok());
  EXPECT_EQ(RoleFor(As("")), NumberOf(Role::kOperator));
}

TEST_F(HttpTlsTest, StreamsEventsBothWaysToTheEnd) {
  EventHub hub;
  Serve(Tls(), [&hub](const HttpRequest&) {
    HttpResponse out;
    out.stream = hub.Subscribe();
    out.stream->Publish("hello", "1");
    return out;
  });
  auto client = Client(As(""), "https");
  int seen = 0;
  const auto count = [&](const ServerEvent&) {
    if (++seen == 1) hub.Publish("", "2");
    if (seen == 2) hub.Close();
    return true;
  };
  const absl::Status status = client->ReadEvents("/", count);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(seen, 2);
}

TEST_F(HttpTlsTest, ClientsThatDoNotSpeakTlsAreCut) {
  ServerOptions options = Tls();
  options.header_timeout = std::chrono::milliseconds(2000);
  Serve(options);
  RawClient plain(port());
  plain.Send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  plain.ReadToEnd();
  RawClient silent(port());
  EXPECT_EQ(silent.ReadToEnd(), "");
  EXPECT_EQ(Client(As(""), "https")->Get("/")->status, 200);
  EXPECT_EQ(server_->counts().tls_failures, 2U) << "one that is not TLS, and one that says nothing";
  EXPECT_FALSE(Client()->Get("/").ok());
}

TEST_F(HttpTlsTest, NamesTheFileThatIsWrong) {
  ServerOptions options = Tls();
  options.key_file = File("client.key");  // key of another certificate
  const auto wrong_key = HttpServer::Start(options, Echo);
  EXPECT_THAT(std::string(Message(wrong_key.status())), HasSubstr("client.key"));
  options = Tls();
  options.certificate_file = File("missing.pem");
  EXPECT_THAT(std::string(Message(HttpServer::Start(options, Echo).status())), HasSubstr("missing.pem"));
  ClientOptions client = As("");
  client.ca_file = File("missing.pem");
  EXPECT_THAT(std::string(Message(HttpClient::Create("https://localhost", client).status())),
              HasSubstr("missing.pem"));
}

}  // namespace
}  // namespace taut
