// A blocking client of HTTP/1.1 over TCP or TLS.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/net/http.h"

namespace taut {

struct ClientOptions {
  std::string token;  // sent as Bearer if not ""
  // For https: PEM files. "": the system's CAs; no certificate of our own.
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  // The same as PEM text, which counts if both are set.
  std::string ca_pem, certificate_pem, key_pem;
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  // of a whole request
  size_t max_body_bytes = size_t{256} << 20;                     // of an answer
  // Ends the message of a refused connection: how to name another server.
  std::string unreachable_hint;
};

struct ServerEvent {
  std::string event;  // "message" if the sender gave none
  std::string data;
  std::string id;  // the last one sent, which later events keep
};

// Not thread-safe: one client, one thread, but for Interrupt.
class HttpClient {
 public:
  // "http://host:port" or "https://host", without or with a path that goes before every path asked for.
  // Connects at the first request. InvalidArgument: what is wrong with the address or the files.
  static absl::StatusOr<std::unique_ptr<HttpClient>> Create(std::string_view base_url,
                                                            const ClientOptions& options);
  ~HttpClient();

  // `path` begins with '/' and is percent-encoded, with its query (PercentEncode, FormatQuery). Any status is
  // an answer, not an error: see StatusOf. The connection is kept for the next request; one that the server
  // has closed meanwhile is opened again, unseen. Errors name the URL: Unavailable (no connection, or lost),
  // DeadlineExceeded, ResourceExhausted (answer too large), DataLoss (not HTTP).
  absl::StatusOr<HttpResponse> Get(std::string_view path);
  absl::StatusOr<HttpResponse> Delete(std::string_view path);
  absl::StatusOr<HttpResponse> Post(std::string_view path, std::string_view body,
                                    std::string_view content_type);
  absl::StatusOr<HttpResponse> Put(std::string_view path, std::string_view body,
                                   std::string_view content_type);
  absl::StatusOr<HttpResponse> Patch(std::string_view path, std::string_view body,
                                     std::string_view content_type);

  struct Request {
    std::string_view method = "GET";
    std::string_view path = "/";
    std::string_view body;
    std::string_view content_type;
    std::vector<HttpHeader> headers;
  };
  absl::StatusOr<HttpResponse> Send(const Request& request);

  // Reads a stream of server-sent events until on_event returns false or the server ends it (OK), or nothing,
  // not even a heartbeat, comes for `silence` (DeadlineExceeded). An answer other than 200 is an error:
  // StatusOf.
  absl::Status ReadEvents(std::string_view path, const std::function<bool(const ServerEvent&)>& on_event,
                          std::string_view last_event_id = "",
                          std::chrono::milliseconds silence = std::chrono::seconds(60));

  // Reads a body that goes on and on, line by line, until on_line returns false or the server ends it (OK), or
  // nothing comes for `silence` (DeadlineExceeded). Lines come without their end; the last may have none, one
  // above `max_body_bytes` is ResourceExhausted. An answer other than 200: StatusOf, and `refused`, if there is
  // one, is that answer.
  absl::Status ReadLines(const Request& request, const std::function<bool(std::string_view line)>& on_line,
                         std::chrono::milliseconds silence = std::chrono::seconds(60),
                         HttpResponse* refused = nullptr);
  // Ends the request under way, and every later one, with an error. From any thread.
  void Interrupt();

  const std::string& base_url() const;

 private:
  struct Impl;
  // Calls on_bytes with each piece of the body of a 200 until it returns an error, which ends the reading.
  absl::Status ReadStream(const Request& request, std::chrono::milliseconds silence,
                          const std::function<absl::Status(std::string_view piece)>& on_bytes,
                          HttpResponse* refused = nullptr);
  explicit HttpClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// OK for 2xx; else the code nearest in meaning, with the status and the first line of the answer.
absl::Status StatusOf(const HttpResponse& response);

}  // namespace taut
