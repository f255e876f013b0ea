// Compresses responses with gzip for clients that accept it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/net/http.h"

namespace taut {

// Returns true if Accept-Encoding lists gzip (or *) without a weight of 0.
bool AcceptsGzip(std::string_view accept_encoding);
// Returns a complete gzip member; nullopt if the member would not be smaller than the text. Favours speed:
// JSON shrinks to about a fifth.
std::optional<std::string> Gzip(std::string_view text);
// Compresses the body of a 200 response if the body is text, larger than 1 KiB and not encoded yet. Adds the
// header Vary for caches. Streams are left unchanged.
void CompressFor(const HttpRequest& request, HttpResponse* response);

}  // namespace taut
