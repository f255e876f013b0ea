// Fuzzes the parser of the text form of a series with arbitrary text. The text is rejected, or results in labels
// that are unchanged after they are written and parsed again.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/ingest/series_text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto labels = taut::server::ParseSeriesText({reinterpret_cast<const char*>(data), size});
  if (!labels.ok()) return 0;
  const auto back = taut::server::ParseSeriesText(taut::server::SeriesText(*labels));
  if (!back.ok() || *back != *labels) std::abort();
  return 0;
}
