// Bytes to HTTP/1.1 messages, over Beast's parser.
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
  kHeader,      // more bytes please
  kHeaderDone,  // said once, before any of the body is read
  kBody,        // more bytes please
  kDone,
  kMalformed,
  kHeaderTooLarge,
  kBodyTooLarge,
};

// One request after the other of a connection. Not thread-safe.
class RequestParser {
 public:
  explicit RequestParser(size_t max_header_bytes);
  ~RequestParser();

  // Begins the next request. Clears `into`, which must live until the request is done. The parser fills
  // method, path, segments, query, headers and body.
  void Begin(HttpRequest* into);
  // Reads a part of `bytes` and says how many; the rest must be shown again, with more behind it.
  ParseState Put(std::string_view bytes, size_t* used);

  // From kHeaderDone on:
  void set_max_body_bytes(size_t bytes);
  std::optional<uint64_t> content_length() const;
  bool keep_alive() const;
  bool expects_continue() const;
  bool is_head() const;
  bool is_http11() const;
  const std::string& authority() const;  // of the target, else ""
  std::string_view error() const;        // of kMalformed

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One answer. Not thread-safe.
class ResponseParser {
 public:
  // `no_body`: of a HEAD.
  enum class Body : uint8_t { kAsSaid, kNone };
  ResponseParser(size_t max_body_bytes, Body body);
  ~ResponseParser();

  // As RequestParser::Put. Pieces of the body are appended to response().body, which the caller may empty.
  ParseState Put(std::string_view bytes, size_t* used);
  // The sender closed the connection: kDone if that is how this answer ends, else kMalformed.
  ParseState PutEnd();

  HttpResponse& response();
  bool keep_alive() const;
  std::string_view error() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace taut
