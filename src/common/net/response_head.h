// Writes the head of a response as it is sent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/net/http.h"

namespace taut {

enum class KeepAlive : uint8_t {
  kNo,
  kYes,
  kYesAloud,  // kept open, which a header announces, as HTTP/1.0 requires
};

// Returns false for 1xx, 204, 304 and event streams: such responses are sent without a Content-Length.
bool HasBody(const HttpResponse& response);
// Appends the status line, the response's headers, the headers of `defaults` that the response does not set,
// and the empty line. Line ends and NUL in a header become blanks, so that no header can end early.
void AppendResponseHead(const HttpResponse& response, const std::vector<HttpHeader>& defaults,
                        KeepAlive keep_alive, std::string* out);

}  // namespace taut
