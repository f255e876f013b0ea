// The server of tautd's webhooks for new pods. It creates its certificate, writes the certificate to the webhooks'
// configurations, and responds to reviews.
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
    // certificate and private key; created if missing, replaced before it expires
    std::string certificate_file;
    std::function<Timestamp()> now;
    // The two webhooks, called on the server's threads. A webhook whose function is empty is not served.
    std::function<PodAdmission(const PodReview&)> admit;  // mutating webhook
    std::function<std::string(const PodReview&)> quota;   // validating webhook; returns an AdmissionReview
  };
  struct Counts {
    uint64_t changed = 0, unchanged = 0;  // pods that the mutating webhook changed or did not change
    uint64_t refused = 0;                 // requests other than reviews of a pod
  };
  // Starts a server, which listens when the function returns. Errors name the invalid setting.
  static absl::StatusOr<std::unique_ptr<PodWebhookServer>> Start(Options options,
                                                                 std::unique_ptr<ApiClient> client);
  ~PodWebhookServer() { Stop(); }

  // Renews the certificate if due, and writes it to the webhooks' configurations. Returns the last error; "" if
  // there is none. Call every few seconds, from one thread.
  std::string Keep();
  // Cancels the current request, so that Keep() returns soon. Thread-safe.
  void Interrupt() { client_->Interrupt(); }
  void Stop();
  Counts counts() const { return {changed_, unchanged_, refused_}; }

 private:
  PodWebhookServer(Options options, std::unique_ptr<ApiClient> client)
      : options_(std::move(options)), client_(std::move(client)) {}
  absl::Status Listen();
  ServerOptions ServerOptionsNow() const;
  // Reads or creates the certificate. Returns true if the certificate is new.
  absl::StatusOr<bool> RefreshCertificate();
  absl::Status TellCluster();
  // Writes the certificate to the configuration of a webhook. `kind` is the path segment of the configuration's
  // kind.
  absl::Status TellWebhook(std::string_view kind, std::string_view webhook);
  HttpResponse Answer(const HttpRequest& request);

  const Options options_;
  const std::unique_ptr<ApiClient> client_;
  std::unique_ptr<HttpServer> server_;
  std::string token_, certificate_pem_;  // members that only Keep() uses
  double tell_at_s_ = 0;
  std::string error_;
  std::atomic<uint64_t> changed_ = 0, unchanged_ = 0, refused_ = 0;
};

}  // namespace taut::server
