// Requests and responses of HTTP/1.1 as plain values, and the text rules of their targets.
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

// Names compare without regard to case. nullptr if there is none; the first of several.
const std::string* FindHeader(const std::vector<HttpHeader>& headers, std::string_view name);

// Upper and lower case of ASCII letters are the same.
bool EqualsIgnoreCase(std::string_view a, std::string_view b);

// Decodes %XX, and '+' to a blank if `plus_is_blank` (queries and forms). nullopt: a % without two hex
// digits.
enum class PlusSign : uint8_t { kItself, kBlank };
std::optional<std::string> PercentDecode(std::string_view text, PlusSign plus);
// Everything but letters, digits and -._~ becomes %XX: safe as one path segment and as a query's name or
// value.
std::string PercentEncode(std::string_view text);

struct QueryParameter {
  std::string name;
  std::string value;
};
// "a=1&b&a=%20" in order; empty pieces are skipped. nullopt: damaged escapes, or not UTF-8.
std::optional<std::vector<QueryParameter>> ParseQuery(std::string_view text);
// With a leading '?', or "" for none: what may follow a path.
std::string FormatQuery(const std::vector<QueryParameter>& parameters);

struct HttpTarget {
  std::string path;                   // raw, begins with '/' (or is "*")
  std::vector<std::string> segments;  // "/a%2Fb/c" -> "a/b", "c"; "/" -> none; "/a/" -> "a", ""
  std::vector<QueryParameter> query;
  std::string authority;  // of "http://host:port/path", which proxies send; else ""
};
// What stands in a request line between method and version. nullopt: not a target. All decoded text is valid
// UTF-8 without control characters in segments. Segments may be ".." or hold '/': never a file's name
// untested.
std::optional<HttpTarget> ParseTarget(std::string_view target);

struct HttpRequest {
  std::string method;  // "GET", "POST", ...; a HEAD comes as "GET" and the server leaves out the body
  std::string path;    // as HttpTarget
  std::vector<std::string> segments;
  std::vector<QueryParameter> query;
  std::vector<HttpHeader> headers;
  std::string body;  // whole, without chunks; still in its Content-Encoding
  std::string peer;  // "127.0.0.1:40404"
  Role role = Role::kNone;
  std::string user;  // the name beside the token, or of the client's certificate; "" for none
  std::shared_ptr<const GroupBindings> bindings;  // of Role::kGroup; else null
  std::string refusal;                            // why its token was not taken, for the answer
  std::optional<int64_t> valid_until_s;           // of a token or session that expires: a stream ends then
  bool by_session = false;                        // known by the cookie of a browser's session alone

  // nullptr if absent; the first of several.
  const std::string* header(std::string_view name) const { return FindHeader(headers, name); }
  const std::string* parameter(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string content_type;  // "" and no body: no Content-Type
  std::string body;
  std::vector<HttpHeader> headers;  // beside those that the server sets: lengths, type, connection
  // If set: sent instead of `body`, without a copy; for big answers that many ask for.
  std::shared_ptr<const std::string> shared_body;
  // If set: the answer is this stream of server-sent events; bodies are skipped.
  std::shared_ptr<EventStream> stream;

  const std::string* header(std::string_view name) const { return FindHeader(headers, name); }
  std::string_view text() const { return shared_body ? *shared_body : body; }
};

HttpResponse TextResponse(int status, std::string text);
HttpResponse JsonResponse(int status, std::string json);
// {"error": text}, with Retry-After for 429 and 503.
HttpResponse ErrorResponse(int status, std::string_view text);

// "Not Found" for 404; "" for what has no name.
std::string_view ReasonPhrase(int status);

}  // namespace taut
