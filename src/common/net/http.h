// Requests and responses of HTTP/1.1 as plain values, and functions on their texts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/net/role.h"

namespace taut {

class EventStream;

struct HttpHeader {
  std::string name;
  std::string value;
};

// Returns the value of the first header with this name, ignoring case; nullptr if no header has this name.
const std::string* FindHeader(const std::vector<HttpHeader>& headers, std::string_view name);

// Compares text, ignoring the case of ASCII letters.
bool EqualsIgnoreCase(std::string_view a, std::string_view b);

// Decodes %XX; kBlank (for queries and forms) also decodes '+' to a blank. nullopt for a % without two hex
// digits.
enum class PlusSign : uint8_t { kItself, kBlank };
std::optional<std::string> PercentDecode(std::string_view text, PlusSign plus);
// Encodes all but letters, digits and -._~ as %XX: safe as one path segment and as name or value of a query.
std::string PercentEncode(std::string_view text);

struct QueryParameter {
  std::string name;
  std::string value;
};
// Parses a query such as "a=1&b&a=%20" into parameters in the same order, and skips empty pieces. Returns nullopt
// for invalid escapes or invalid UTF-8.
std::optional<std::vector<QueryParameter>> ParseQuery(std::string_view text);
// Returns the query with a leading '?', "" without parameters: the text that follows a path.
std::string FormatQuery(const std::vector<QueryParameter>& parameters);

struct HttpTarget {
  std::string path;                   // raw, begins with '/' (or is "*")
  std::vector<std::string> segments;  // "/a%2Fb/c" -> "a/b", "c"; "/" -> none; "/a/" -> "a", ""
  std::vector<QueryParameter> query;
  std::string authority;  // host and port of "http://host:port/path", which proxies send; else ""
};
// Parses the target of a request line; nullopt if the target is invalid. Decoded text is valid UTF-8, and segments
// contain no control characters. A segment may be ".." or contain '/': check the segment before it becomes a file
// name.
std::optional<HttpTarget> ParseTarget(std::string_view target);

struct HttpRequest {
  std::string method;  // "GET", "POST", ...; HEAD appears as "GET", and the server omits the body
  std::string path;    // HttpTarget::path
  std::vector<std::string> segments;
  std::vector<QueryParameter> query;
  std::vector<HttpHeader> headers;
  std::string body;  // complete and dechunked, still in its Content-Encoding
  std::string peer;  // client's address: "127.0.0.1:40404"
  Role role = Role::kNone;
  std::string user;  // name of the token or of the client's certificate; "" for none
  std::shared_ptr<const GroupBindings> bindings;  // bindings of a sender with Role::kGroup, else null
  std::string refusal;                   // reason for the rejection of a token; "" if none was rejected
  std::optional<int64_t> valid_until_s;  // Unix time when token or session expires and streams end
  bool by_session = false;               // true if authenticated by a session cookie alone

  // Return the first value with this name; nullptr if absent.
  const std::string* header(std::string_view name) const { return FindHeader(headers, name); }
  const std::string* parameter(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type;  // "" without a body: no Content-Type is sent
  std::string body;
  // Headers in addition to the server's own headers for lengths, type and connection.
  std::vector<HttpHeader> headers;
  // Text that replaces `body` if set. It is sent without a copy, for large responses that many clients request.
  std::shared_ptr<const std::string> shared_body;
  // Stream of server-sent events; null: none. A stream is the response, and the bodies are then ignored.
  std::shared_ptr<EventStream> stream;

  const std::string* header(std::string_view name) const { return FindHeader(headers, name); }
  std::string_view text() const { return shared_body ? *shared_body : body; }
};

HttpResponse TextResponse(int status, std::string text);
HttpResponse JsonResponse(int status, std::string json);
// Returns {"error": text}, with Retry-After for 429 and 503.
HttpResponse ErrorResponse(int status, std::string_view text);

// Returns "Not Found" for 404; "" for an unknown status.
std::string_view ReasonPhrase(int status);

}  // namespace taut
