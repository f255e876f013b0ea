// gzip of answers, for clients that want it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/net/http.h"

namespace taut {

// By Accept-Encoding: names gzip (or *) without a weight of 0.
bool AcceptsGzip(std::string_view accept_encoding);
// A whole gzip member; nullopt if it would not be smaller. Fast rather than small: about a fifth of JSON.
std::optional<std::string> Gzip(std::string_view text);
// Compresses the body of an answer that is text, larger than 1 KiB, and not encoded yet; tells caches of it.
void CompressFor(const HttpRequest& request, HttpResponse* response);

}  // namespace taut
