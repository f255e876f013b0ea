// Fuzzes the parser of Prometheus query responses with arbitrary bytes. A parsed series has sorted labels and at
// least one sample. The parser can then parse another response.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "common/base/strings.h"
#include "server/ingest/query_answer.h"

namespace taut {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void Read(const uint8_t* data, size_t size) {
  static server::QueryAnswerParser parser;
  std::string body(reinterpret_cast<const char*>(data), size);
  const std::string copy = body;
  const auto check = [](std::span<const LabelView> labels, std::span<const server::RemoteSample> samples) {
    Require(!samples.empty());
    for (size_t i = 1; i < labels.size(); ++i) Require(labels[i - 1].name <= labels[i].name);
    for (const server::RemoteSample& s : samples) Require(s.timestamp_ms <= 100'000'000'000'000);
    return absl::OkStatus();
  };
  const absl::Status status = parser.Parse(body, check);
  Require(body == copy);
  Require(status.ok() || !Message(status).empty());
  (void)server::ErrorTextOf(copy);

  std::string good =
      R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":"b"},"values":[[1.5,"2"]]}]}})";
  int series = 0;
  Require(parser
              .Parse(good,
                     [&series](std::span<const LabelView>, std::span<const server::RemoteSample>) {
                       ++series;
                       return absl::OkStatus();
                     })
              .ok());
  Require(series == 1);
}

}  // namespace
}  // namespace taut

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  taut::Read(data, size);
  return 0;
}
