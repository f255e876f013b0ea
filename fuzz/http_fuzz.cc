// Fuzzes the parsers of HTTP targets, queries, credentials and messages with arbitrary bytes. Input is rejected,
// or is unchanged after it is written and parsed again. The result for a message does not depend on how its bytes
// are split.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/net/access.h"
#include "common/net/event_reader.h"
#include "common/net/http.h"
#include "common/net/message_parser.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void Targets(std::string_view bytes) {
  (void)DecodeBase64(bytes);
  (void)HostWithoutPort(bytes);
  (void)ParseListenAddress(bytes);
  Require(PercentDecode(PercentEncode(bytes), PlusSign::kBlank) == bytes);
  const auto target = ParseTarget(bytes);
  if (!target || target->path == "*") return;
  Require(target->path.front() == '/');
  std::string again;
  for (const std::string& segment : target->segments) again += "/" + PercentEncode(segment);
  const auto reread = ParseTarget((again.empty() ? "/" : again) + FormatQuery(target->query));
  Require(reread.has_value() && reread->segments == target->segments &&
          reread->query.size() == target->query.size());
  for (size_t i = 0; i < target->query.size(); ++i) {
    Require(reread->query[i].name == target->query[i].name &&
            reread->query[i].value == target->query[i].value);
  }
}

// Parses all requests in `bytes`, and passes `step` bytes to the parser in each call.
std::string Requests(std::string_view bytes, size_t step) {
  RequestParser parser(4096);
  HttpRequest request;
  std::string out;
  size_t begin = 0;
  size_t shown = 0;
  parser.Begin(&request);
  while (true) {
    size_t used = 0;
    const ParseState state = parser.Put(bytes.substr(begin, shown - begin), &used);
    begin += used;
    if (state == ParseState::kHeaderDone) {
      parser.set_max_body_bytes(1000);
    } else if (state == ParseState::kDone) {
      Require(request.body.size() <= 1000);
      out += request.method + " " + request.path + " " + request.body + "\n";
      parser.Begin(&request);
    } else if (state == ParseState::kHeader || state == ParseState::kBody) {
      if (used > 0) continue;
      if (shown == bytes.size()) return out;
      shown = std::min(bytes.size(), shown + step);
    } else {
      return out;
    }
  }
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace taut;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  Targets(bytes);
  const std::string whole = Requests(bytes, bytes.size() + 1);
  const std::string pieces = Requests(bytes, 3);
  Require(whole == pieces);
  ResponseParser response(1000, ResponseParser::Body::kAsSaid);
  size_t used = 0;
  for (size_t begin = 0; begin < size; begin += used) {
    const ParseState state = response.Put(bytes.substr(begin), &used);
    if (state > ParseState::kBody || (used == 0 && state != ParseState::kHeaderDone)) break;
  }
  EventReader events(1000);
  (void)events.Put(bytes, [](const ServerEvent&) { return true; });
  return 0;
}
