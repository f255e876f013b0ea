#include "common/net/response_head.h"

#include <algorithm>
#include <string_view>

#include "common/base/strings.h"

namespace taut {
namespace {

void AppendHeader(std::string_view name, std::string_view value, std::string* out) {
  const size_t begin = out->size();
  out->append(name);
  out->append(": ");
  out->append(value);
  std::replace_if(
      out->begin() + static_cast<std::ptrdiff_t>(begin), out->end(),
      [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  out->append("\r\n");
}

}  // namespace

bool HasBody(const HttpResponse& response) {
  return !response.stream && response.status >= 200 && response.status != 204 && response.status != 304;
}

void AppendResponseHead(const HttpResponse& response, const std::vector<HttpHeader>& defaults,
                        KeepAlive keep_alive, std::string* out) {
  StrAppend(out, "HTTP/1.1 ", response.status, " ", ReasonPhrase(response.status), "\r\n");
  if (response.stream) {
    *out += "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\n";
  } else if (!response.content_type.empty()) {
    AppendHeader("Content-Type", response.content_type, out);
  }
  if (HasBody(response)) StrAppend(out, "Content-Length: ", response.text().size(), "\r\n");
  for (const HttpHeader& header : response.headers) AppendHeader(header.name, header.value, out);
  for (const HttpHeader& header : defaults) {
    const bool set = response.header(header.name) != nullptr ||
                     (response.stream && EqualsIgnoreCase(header.name, "Cache-Control"));
    if (!set) AppendHeader(header.name, header.value, out);
  }
  if (keep_alive == KeepAlive::kNo) *out += "Connection: close\r\n";
  if (keep_alive == KeepAlive::kYesAloud) *out += "Connection: keep-alive\r\n";
  *out += "\r\n";
}

}  // namespace taut
