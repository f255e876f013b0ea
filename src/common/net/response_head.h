// The head of an answer, as it goes over the wire.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/net/http.h"

namespace taut {

enum class KeepAlive : uint8_t {
  kNo,
  kYes,
  kYesAloud,  // HTTP/1.0 needs the header
};

// 1xx, 204 and 304 have no body, and no length of one; a stream of events has no length either.
bool HasBody(const HttpResponse& response);
// Appends status line, headers of the response, those of `defaults` that it does not set itself, and the
// empty line. No header can end early: line ends in it become blanks.
void AppendResponseHead(const HttpResponse& response, const std::vector<HttpHeader>& defaults,
                        KeepAlive keep_alive, std::string* out);

}  // namespace taut
