// Tests that compressed responses decompress to the original, and are sent only to clients that accept them.
#include "common/net/compress.h"

#include <gtest/gtest.h>
#include <isa-l/igzip_lib.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

namespace taut {
namespace {

std::string Gunzip(std::string bytes, size_t size) {
  std::string out(size + 1, '\0');
  inflate_state state;
  isal_inflate_init(&state);
  state.crc_flag = ISAL_GZIP;
  state.next_in = reinterpret_cast<uint8_t*>(bytes.data());
  state.avail_in = static_cast<uint32_t>(bytes.size());
  state.next_out = reinterpret_cast<uint8_t*>(out.data());
  state.avail_out = static_cast<uint32_t>(out.size());
  EXPECT_EQ(isal_inflate(&state), ISAL_DECOMP_OK);
  EXPECT_EQ(state.block_state, ISAL_BLOCK_FINISH);
  out.resize(state.total_out);
  return out;
}

RC_GTEST_PROP(Compress, ReadsBack, (const std::string& text, uint16_t times)) {
  std::string all;
  for (int i = 0; i < times % 1000; ++i) all += text;
  const auto compressed = Gzip(all);
  if (!compressed) return;
  RC_ASSERT(compressed->size() <= all.size());
  RC_ASSERT(Gunzip(*compressed, all.size()) == all);
}

TEST(Compress, LeavesAloneWhatDoesNotGetSmaller) {
  EXPECT_FALSE(Gzip(""));
  EXPECT_FALSE(Gzip("a"));
}

TEST(Compress, ReadsAcceptEncoding) {
  for (const char* text : {"gzip", "deflate, gzip", "br;q=1.0, GZIP;q=0.8", "*", "gzip;q=1"}) {
    EXPECT_TRUE(AcceptsGzip(text)) << text;
  }
  for (const char* text : {"", "identity", "gzip;q=0", "gzip; q=0.000", "x-gzip", "gzip;q=", "br"}) {
    EXPECT_FALSE(AcceptsGzip(text)) << text;
  }
}

TEST(Compress, CompressesTextForThoseWhoAsk) {
  HttpRequest asks;
  asks.headers = {{"accept-encoding", "gzip"}};
  const std::string text(10'000, 'x');
  HttpResponse json = JsonResponse(200, text);
  CompressFor(asks, &json);
  EXPECT_EQ(*json.header("content-encoding"), "gzip");
  EXPECT_EQ(*json.header("vary"), "Accept-Encoding");
  EXPECT_EQ(Gunzip(json.body, text.size()), text);
  HttpResponse shared = TextResponse(200, "");
  shared.shared_body = std::make_shared<const std::string>(text);
  CompressFor(asks, &shared);
  EXPECT_EQ(Gunzip(std::string(shared.text()), text.size()), text);

  const auto left_alone = [&](const HttpRequest& request, HttpResponse response) {
    const std::string before = response.body;
    CompressFor(request, &response);
    return response.body == before;
  };
  EXPECT_TRUE(left_alone({}, JsonResponse(200, text)));
  EXPECT_TRUE(left_alone(asks, JsonResponse(200, "small")));
  EXPECT_TRUE(left_alone(asks, JsonResponse(404, text)));
  HttpResponse encoded = JsonResponse(200, text);
  encoded.headers = {{"Content-Encoding", "br"}};
  EXPECT_TRUE(left_alone(asks, encoded));
  HttpResponse image = JsonResponse(200, text);
  image.content_type = "image/png";
  EXPECT_TRUE(left_alone(asks, image));
}

}  // namespace
}  // namespace taut
