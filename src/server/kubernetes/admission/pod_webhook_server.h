// The webhooks of tautd about new pods: makes their certificate, writes it to the cluster, and answers reviews.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/time.h"
#include "common/net/http_server.h"
#include "server/config/daemon_config.h"
#include "server/kubernetes/admission/admission.h"
#include "server/kubernetes/client/api_client.h"

namespace taut::server {

class PodWebhookServer {
 public:
  struct Options {
    AdmissionConfig config;
    std::string certificate_file;  // with its key; made if it is not there, replaced before it ends
    std::function<Timestamp()> now;
    // From the server's threads. Null: there is no such webhook.
    std::function<PodAdmission(const PodReview&)> admit;  // the mutating one
    std::function<std::string(const PodReview&)> quota;   // the validating one: an AdmissionReview
  };
  struct Counts {
    uint64_t changed = 0, unchanged = 0;  // pods, by the mutating webhook
    uint64_t refused = 0;                 // requests that are no review of a pod
  };
  // Listens when it returns. Errors name the setting.
  static absl::StatusOr<std::unique_ptr<PodWebhookServer>> Start(Options options,
                                                                 std::unique_ptr<ApiClient> client);
  ~PodWebhookServer() { Stop(); }

  // What is due: a new certificate, and the configurations of the webhooks if they do not have it. What was wrong
  // last, "" for nothing. From one thread, every few seconds.
  std::string Keep();
  // Keep returns soon. From any thread.
  void Interrupt() { client_->Interrupt(); }
  void Stop();
  Counts counts() const { return {changed_, unchanged_, refused_}; }

 private:
  PodWebhookServer(Options options, std::unique_ptr<ApiClient> client)
      : options_(std::move(options)), client_(std::move(client)) {}
  absl::Status Listen();
  ServerOptions ServerOptionsNow() const;
  // Reads or makes the certificate. True: it is another one than before.
  absl::StatusOr<bool> RefreshCertificate();
  absl::Status TellCluster();
  // `kind`: the path of its kind of configuration.
  absl::Status TellWebhook(std::string_view kind, std::string_view webhook);
  HttpResponse Answer(const HttpRequest& request);

  const Options options_;
  const std::unique_ptr<ApiClient> client_;
  std::unique_ptr<HttpServer> server_;
  std::string token_, certificate_pem_;  // of the thread that calls Keep
  double tell_at_s_ = 0;
  std::string error_;
  std::atomic<uint64_t> changed_ = 0, unchanged_ = 0, refused_ = 0;
};

}  // namespace taut::server
