// The server of tautd's webhooks for new pods: creates its certificate, writes it to the cluster, and answers
// reviews.
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
    std::string certificate_file;  // with its key; created if missing, replaced before it expires
    std::function<Timestamp()> now;
    // Called on the server's threads. Null: this webhook is not served.
    std::function<PodAdmission(const PodReview&)> admit;  // the mutating webhook
    std::function<std::string(const PodReview&)> quota;  // the validating webhook; returns an AdmissionReview
  };
  struct Counts {
    uint64_t changed = 0, unchanged = 0;  // pods, by the mutating webhook
    uint64_t refused = 0;                 // requests that are not reviews of a pod
  };
  // Listens when it returns. Errors name the setting.
  static absl::StatusOr<std::unique_ptr<PodWebhookServer>> Start(Options options,
                                                                 std::unique_ptr<ApiClient> client);
  ~PodWebhookServer() { Stop(); }

  // Does what is due: renews the certificate and updates the webhooks' configurations with it. Returns the
  // last error, "" if there is none. Call from one thread, every few seconds.
  std::string Keep();
  // Makes Keep return soon. Thread-safe.
  void Interrupt() { client_->Interrupt(); }
  void Stop();
  Counts counts() const { return {changed_, unchanged_, refused_}; }

 private:
  PodWebhookServer(Options options, std::unique_ptr<ApiClient> client)
      : options_(std::move(options)), client_(std::move(client)) {}
  absl::Status Listen();
  ServerOptions ServerOptionsNow() const;
  // Reads or creates the certificate. Returns true if it is a new one.
  absl::StatusOr<bool> RefreshCertificate();
  absl::Status TellCluster();
  // `kind`: path segment of the kind of configuration.
  absl::Status TellWebhook(std::string_view kind, std::string_view webhook);
  HttpResponse Answer(const HttpRequest& request);

  const Options options_;
  const std::unique_ptr<ApiClient> client_;
  std::unique_ptr<HttpServer> server_;
  std::string token_, certificate_pem_;  // used by the thread that calls Keep
  double tell_at_s_ = 0;
  std::string error_;
  std::atomic<uint64_t> changed_ = 0, unchanged_ = 0, refused_ = 0;
};

}  // namespace taut::server
