#include "common/net/compress.h"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "common/base/strings.h"

namespace taut {
namespace {

constexpr size_t kSmallestBytes = 1024;

bool IsText(std::string_view type) {
  type = type.substr(0, type.find(';'));
  return type.substr(0, 5) == "text/" || type == "application/json" || type == "application/javascript" ||
         type == "image/svg+xml";
}

}  // namespace

bool AcceptsGzip(std::string_view accept_encoding) {
  for (const std::string_view piece : Split(accept_encoding, ',')) {
    const size_t end = std::min(piece.find(';'), piece.size());
    const std::string_view name = StripSpace(piece.substr(0, end));
    if (!EqualsIgnoreCase(name, "gzip") && name != "*") continue;
    const std::string_view weight = StripSpace(piece.substr(std::min(end + 1, piece.size())));
    if (weight.size() < 3 || !EqualsIgnoreCase(weight.substr(0, 2), "q=")) return weight.empty();
    return ParseDouble(weight.substr(2)).value_or(0) > 0;
  }
  return false;
}

std::optional<std::string> Gzip(std::string_view text) {
  if (text.empty() || text.size() > std::numeric_limits<uint32_t>::max() / 2) return std::nullopt;
  // One buffer of a quarter of a megabyte per thread saves an allocation for each response.
  thread_local std::vector<uint8_t> level_buffer(ISAL_DEF_LVL1_DEFAULT);
  std::string out(text.size(), '\0');
  isal_zstream stream;
  isal_deflate_stateless_init(&stream);
  stream.level = 1;
  stream.level_buf = level_buffer.data();
  stream.level_buf_size = static_cast<uint32_t>(level_buffer.size());
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  // The library expects a pointer to non-const, but does not write.
  stream.next_in = const_cast<uint8_t*>(reinterpret_cast<const uint8_t*>(text.data()));
  stream.avail_in = static_cast<uint32_t>(text.size());
  stream.next_out = reinterpret_cast<uint8_t*>(out.data());
  stream.avail_out = static_cast<uint32_t>(out.size());
  if (isal_deflate_stateless(&stream) != COMP_OK) return std::nullopt;
  out.resize(stream.total_out);
  return out;
}

void CompressFor(const HttpRequest& request, HttpResponse* response) {
  if (response->stream || response->status != 200 || response->text().size() <= kSmallestBytes ||
      !IsText(response->content_type) || response->header("Content-Encoding") != nullptr) {
    return;
  }
  response->headers.push_back({"Vary", "Accept-Encoding"});
  const std::string* accepts = request.header("Accept-Encoding");
  if (accepts == nullptr || !AcceptsGzip(*accepts)) return;
  auto compressed = Gzip(response->text());
  if (!compressed) return;
  response->body = std::move(*compressed);
  response->shared_body.reset();
  response->headers.push_back({"Content-Encoding", "gzip"});
}

}  // namespace taut
