// Parses HTTP/1.1 messages incrementally, over Beast's parser.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/net/http.h"

namespace taut {

enum class ParseState : uint8_t {
  kHeader,      // needs more bytes of the header
  kHeaderDone,  // reported once, before any of the body is read
  kBody,        // needs more bytes of the body
  kDone,
  kMalformed,
  kHeaderTooLarge,
  kBodyTooLarge,
};

// Parses the requests of one connection, one after the other. Not thread-safe.
class RequestParser {
 public:
  explicit RequestParser(size_t max_header_bytes);
  ~RequestParser();

  // Begins the next request. Clears and then fills method, path, segments, query, headers and body of `into`,
  // which must outlive the request.
  void Begin(HttpRequest* into);
  // Parses a part of `bytes`, at most up to the next state, and sets `used` to its size. The caller passes
  // the unused bytes again, followed by newer bytes.
  ParseState Put(std::string_view bytes, size_t* used);

  // Valid from kHeaderDone on:
  void set_max_body_bytes(size_t bytes);
  std::optional<uint64_t> content_length() const;
  bool keep_alive() const;
  bool expects_continue() const;
  bool is_head() const;
  bool is_http11() const;
  const std::string& authority() const;  // authority of the target; "" if it has none
  std::string_view error() const;        // reason for kMalformed

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Parses one response. Not thread-safe.
class ResponseParser {
 public:
  // Body that follows the headers. kAsSaid: the body that the headers announce. kNone: no body, even if the
  // headers announce one (the response to a HEAD request).
  enum class Body : uint8_t { kAsSaid, kNone };
  ResponseParser(size_t max_body_bytes, Body body);
  ~ResponseParser();

  // Works like RequestParser::Put. Pieces of the body are appended to response().body, which the caller may empty.
  ParseState Put(std::string_view bytes, size_t* used);
  // Ends the input, when the sender closes the connection. Returns kDone if the close completes this
  // response, else kMalformed.
  ParseState PutEnd();

  HttpResponse& response();
  bool keep_alive() const;
  std::string_view error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
