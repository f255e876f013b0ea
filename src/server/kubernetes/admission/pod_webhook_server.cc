#include "server/kubernetes/admission/pod_webhook_server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "absl/strings/escaping.h"
#include "common/base/strings.h"
#include "common/base/whole_file.h"
#include "common/net/clocks.h"
#include "common/net/self_signed.h"
#include "server/kubernetes/admission/quota_review.h"
#include "server/kubernetes/admission/webhook_scope.h"

namespace taut::server {
namespace {

constexpr int64_t kValidS = 365 * kDaySeconds;
constexpr int64_t kRenewBeforeS = 120 * kDaySeconds;
constexpr double kTellAgainS = 600, kRetryS = 10;
constexpr size_t kMaxReviewBytes = 4 << 20;
constexpr std::string_view kPath = "/admit", kQuotaPath = "/quota";

std::string RandomToken() {
  std::random_device device;
  std::string out;
  for (int i = 0; i < 8; ++i) StrAppend(&out, device(), "-");
  return out;
}

std::string ReadText(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

}  // namespace

absl::StatusOr<std::unique_ptr<PodWebhookServer>> PodWebhookServer::Start(Options options,
                                                                          std::unique_ptr<ApiClient> client) {
  std::unique_ptr<PodWebhookServer> run(new PodWebhookServer(std::move(options), std::move(client)));
  if (absl::Status s = run->Listen(); !s.ok())
    return absl::Status(s.code(), StrCat("kubernetes.admission: ", Message(s)));
  return run;
}

absl::Status PodWebhookServer::Listen() {
  token_ = RandomToken();
  if (const auto fresh = RefreshCertificate(); !fresh.ok()) return fresh.status();
  if (const auto address = ParseListenAddress(options_.config.listen); !address.ok()) return address.status();
  auto server =
      HttpServer::Start(ServerOptionsNow(), [this](const HttpRequest& request) { return Answer(request); });
  if (!server.ok()) return server.status();
  server_ = *std::move(server);
  return absl::OkStatus();
}

void PodWebhookServer::Stop() {
  if (server_ != nullptr) server_->Stop();
}

ServerOptions PodWebhookServer::ServerOptionsNow() const {
  ServerOptions out;
  out.listen = {*ParseListenAddress(options_.config.listen)};
  out.certificate_file = out.key_file = options_.certificate_file;
  // The API server does not authenticate, so these paths are open. A review for the mutating webhook does not
  // affect tautd, and its response is not secret. A review for quota reveals a group's available quota, and may
  // reserve some of it for half a minute.
  out.open_paths = {std::string(kPath), std::string(kQuotaPath)};
  out.operator_tokens = {AccessToken(token_)};
  out.max_body_bytes = kMaxReviewBytes;
  out.compress = false;
  return out;
}

absl::StatusOr<bool> PodWebhookServer::RefreshCertificate() {
  const int64_t now_s = options_.now().seconds();
  const std::string text = ReadText(options_.certificate_file);
  const auto until_s = ExpiryOf(text, options_.config.name);
  // The second condition rejects a certificate that is valid for too long, because an older version or a wrong
  // clock created it.
  if (until_s.ok() && *until_s > now_s + kRenewBeforeS && *until_s <= now_s + kValidS + kDaySeconds) {
    const size_t end = text.find("-----END CERTIFICATE-----");
    const std::string pem = text.substr(0, text.find('\n', end) + 1);
    const bool other = pem != certificate_pem_;
    certificate_pem_ = pem;
    return other;
  }
  const auto made = MakeSelfSigned(std::span(&options_.config.name, 1), now_s, kValidS);
  if (!made.ok()) return made.status();
  const std::string both = made->certificate_pem + made->key_pem;
  if (absl::Status s = WriteWhole(options_.certificate_file, both); !s.ok()) return s;
  certificate_pem_ = made->certificate_pem;
  return true;
}

std::string PodWebhookServer::Keep() {
  if (SteadySeconds() < tell_at_s_) return error_;
  const auto fresh = RefreshCertificate();
  absl::Status status = fresh.ok() && *fresh ? server_->Reload(ServerOptionsNow()) : fresh.status();
  if (status.ok()) status = TellCluster();
  tell_at_s_ = SteadySeconds() + (status.ok() ? kTellAgainS : kRetryS);
  error_ = status.ok() ? "" : std::string(Message(status));
  return error_;
}

absl::Status PodWebhookServer::TellCluster() {
  absl::Status first;
  if (options_.admit) first = TellWebhook("mutatingwebhookconfigurations", kPodWebhook);
  if (!options_.quota) return first;
  const absl::Status second = TellWebhook("validatingwebhookconfigurations", kQuotaWebhook);
  return first.ok() ? second : first;
}

absl::Status PodWebhookServer::TellWebhook(std::string_view kind, std::string_view webhook) {
  const std::string path = StrCat("/apis/admissionregistration.k8s.io/v1/", kind, "/",
                                  PercentEncode(options_.config.configuration));
  const absl::StatusOr<std::string> now = client_->Get(path);
  if (!now.ok()) return now.status();
  const std::string bundle = absl::Base64Escape(certificate_pem_);
  // Do not write an unchanged configuration, because several tautds may check the same configuration.
  if (now->find(bundle) != std::string::npos) return absl::OkStatus();
  const std::string patch =
      StrCat(R"({"webhooks":[{"name":")", webhook, R"(","clientConfig":{"caBundle":")", bundle, R"("}}]})");
  return client_->Patch(StrCat(path, "?fieldManager=", kFieldManager), patch, kStrategicMergePatch).status();
}

HttpResponse PodWebhookServer::Answer(const HttpRequest& request) {
  HttpResponse out;
  const auto refuse = [&](int status, std::string_view why) {
    ++refused_;
    out.status = status;
    out.content_type = "text/plain; charset=utf-8";
    out.body = StrCat(why, "\n");
    return out;
  };
  const bool of_quota = request.path == kQuotaPath && options_.quota;
  if (!of_quota && (request.path != kPath || !options_.admit))
    return refuse(404,
                  "no webhook is at this path: /admit changes new pods, with actuator.kind: kubernetes, and "
                  "/quota holds them to quota, with kubernetes.admission.quota");
  if (request.method != "POST") return refuse(405, "expected POST");
  const absl::StatusOr<PodReview> review = ParsePodReview(request.body);
  if (!review.ok()) return refuse(400, Message(review.status()));
  out.content_type = "application/json";
  if (of_quota) {
    out.body = options_.quota(*review);
    return out;
  }
  PodAdmission admission = options_.admit(*review);
  ++(admission.changed ? changed_ : unchanged_);
  out.body = std::move(admission.answer);
  return out;
}

}  // namespace taut::server
