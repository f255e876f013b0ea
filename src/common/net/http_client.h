// A blocking client of HTTP/1.1 over TCP, TLS or a Unix socket.
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
  std::string token;  // sent as a Bearer token; "" for none
  // PEM files for https. An empty CA means the system's CAs, and an empty certificate means no certificate.
  std::string ca_file;
  std::string certificate_file;
  std::string key_file;
  // PEM text of the CA, the certificate and the key. A text takes precedence over the file.
  std::string ca_pem, certificate_pem, key_pem;
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);
  std::chrono::milliseconds timeout = std::chrono::seconds(30);  // time limit of a whole request
  size_t max_body_bytes = size_t{256} << 20;                     // limit of a response's body
  // Text that explains how to configure another server. It is appended to the error of an unreachable server.
  std::string unreachable_hint;
};

struct ServerEvent {
  std::string event;  // "message" if the sender set none
  std::string data;
  std::string id;  // the last id received, kept for later events
};

// Not thread-safe, except Interrupt.
class HttpClient {
 public:
  // Creates a client for "http://host:port" or "https://host", with an optional path that prefixes all request
  // paths, or for the Unix socket of "unix:///path". The first request connects. InvalidArgument if the address or
  // the files are invalid.
  static absl::StatusOr<std::unique_ptr<HttpClient>> Create(std::string_view base_url,
                                                            const ClientOptions& options);
  ~HttpClient();

  // Send one request and return the response, with any status (see StatusOf). `path` begins with '/' and is
  // percent-encoded with its query (PercentEncode, FormatQuery). The connection is kept; a connection that
  // the server closed meanwhile is reopened. Errors contain the URL: Unavailable (no connection, or lost),
  // PermissionDenied (TLS), DeadlineExceeded, ResourceExhausted (response too large), DataLoss (not HTTP).
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
  // Sends a request as Get does. Repeats a request, except POST and PATCH, over a new connection if the kept
  // connection was closed.
  absl::StatusOr<HttpResponse> Send(const Request& request);

  // Reads server-sent events. Returns OK when on_event returns false or the server ends the stream,
  // DeadlineExceeded if nothing, not even a heartbeat, arrives for `silence`. A response other than 200 yields the
  // error of StatusOf.
  absl::Status ReadEvents(std::string_view path, const std::function<bool(const ServerEvent&)>& on_event,
                          std::string_view last_event_id = "",
                          std::chrono::milliseconds silence = std::chrono::seconds(60));

  struct LineStream {
    std::function<bool(std::string_view line)> on_line;  // `line` lacks its line end; false ends the stream
    std::function<void()> on_open;  // called once after the header of a 200; may be empty
    std::chrono::milliseconds silence = std::chrono::seconds(60);
    HttpResponse* refused = nullptr;  // set to a response other than 200; may be null
  };
  // Reads an endless body line by line. Returns OK when on_line returns false or the server ends the body,
  // DeadlineExceeded if nothing arrives for `silence`, ResourceExhausted for a line above `max_body_bytes`. A
  // response other than 200 yields the error of StatusOf.
  absl::Status ReadLines(const Request& request, const LineStream& stream);
  // Makes the current request and every later request fail. A connection attempt still runs until its
  // timeout. Thread-safe.
  void Interrupt();

  const std::string& base_url() const;

 private:
  struct Impl;
  // Calls on_bytes after the header of a 200, and then with each further piece of the body, until on_bytes returns
  // an error. A piece may be empty.
  absl::Status ReadStream(const Request& request, std::chrono::milliseconds silence,
                          const std::function<absl::Status(std::string_view piece)>& on_bytes,
                          HttpResponse* refused = nullptr);
  explicit HttpClient(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Returns OK for 2xx, else the nearest code with the status and the first line of the body.
absl::Status StatusOf(const HttpResponse& response);

}  // namespace taut
