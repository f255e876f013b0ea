// Decoder and encoder of Prometheus remote-write 1.0 bodies: a snappy block with the protobuf message
// prometheus.WriteRequest.
//
// Source: the Prometheus Remote-Write 1.0 specification. docs/reference/ingest.md describes the wire format
// and the skipped parts.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/base/name_template.h"

namespace taut::server {

struct RemoteSample {
  double value = 0;
  int64_t timestamp_ms = 0;  // time in milliseconds since the Unix epoch
};

// One series of a request. All views are valid during the call that receives it.
struct SeriesView {
  // Labels in the order of the message; the metric name is the label __name__.
  std::span<const LabelView> labels;
  std::span<const RemoteSample> samples;
  // Hash of the encoded labels. Equal bytes have equal fingerprints, so that a caller resolves known labels
  // with one lookup. The same labels in another order have another fingerprint.
  uint64_t fingerprint = 0;
};

struct DecodeCounts {
  uint64_t series = 0, samples = 0;  // series and samples passed to the callback
  // Series over a label limit or without a metric name. These series are skipped; the rest of the request is
  // decoded.
  uint64_t refused_series = 0, refused_samples = 0;
  uint64_t histograms = 0;    // number of native histograms, which are skipped
  std::string first_refusal;  // reason for the response to the sender; "" if none
};

struct RemoteWriteLimits {
  size_t max_decompressed_bytes = size_t{32} << 20;
  size_t max_series = 100'000;
  size_t max_samples = 1'000'000;
  // Limits of one series; a series that exceeds them is refused, and the request is accepted.
  size_t max_labels = 128;
  size_t max_label_name_bytes = 1024;
  size_t max_label_value_bytes = 8192;
};

// Not thread-safe; reuses its buffers, so that steady traffic allocates nothing.
class RemoteWriteDecoder {
 public:
  using SeriesFn = absl::FunctionRef<void(const SeriesView&)>;

  // `seed` changes the fingerprints. A secret seed prevents a sender from constructing collisions.
  explicit RemoteWriteDecoder(const RemoteWriteLimits& limits = {}, uint64_t seed = 0)
      : limits_(limits), seed_(seed) {}

  // Calls fn once per series with samples, in order. Checks all lengths before it allocates memory.
  //   InvalidArgument     not a snappy block, or not a WriteRequest. Errors of the snappy block precede all
  //                       calls of fn. If the message is damaged, fn has received the series before the damage.
  //   ResourceExhausted   exceeds a limit of the request; the message names the limit.
  // Takes about 0.2 µs per series of 10 labels and one sample.
  absl::StatusOr<DecodeCounts> Decode(std::string_view body, SeriesFn fn);
  // Decodes a message that is not compressed. Returns the errors of Decode.
  absl::StatusOr<DecodeCounts> DecodeMessage(std::string_view message, SeriesFn fn);

 private:
  struct Cursor;
  enum class Refusal : uint8_t { kNone, kTooManyLabels, kLongName, kLongValue, kNoMetricName };

  absl::Status ParseSeries(std::string_view message, SeriesFn fn, DecodeCounts& counts);
  // The Parse functions parse one message each. They return false if the message is damaged.
  bool ParseLabel(std::string_view message);
  bool ParseSample(std::string_view message);
  void AddLabelBytes(const char* begin, const char* end);
  void Refuse(DecodeCounts& counts) const;

  const RemoteWriteLimits limits_;
  const uint64_t seed_;
  std::unique_ptr<char[]> buffer_;
  size_t buffer_bytes_ = 0;
  // Labels of the present series.
  std::vector<LabelView> labels_;
  std::vector<RemoteSample> samples_;
  std::string_view block_;   // encoded labels, while they are contiguous
  std::string split_block_;  // copy of the encoded labels if they are not contiguous
  Refusal refusal_ = Refusal::kNone;
  bool has_metric_name_ = false;
};

// Input of EncodeWriteRequest for one series.
struct RemoteSeries {
  std::vector<LabelView> labels;
  std::vector<RemoteSample> samples;
};
// Encodes a body as Prometheus does; keeps the order of labels. For tests, load generation and the sample
// log.
std::string EncodeWriteRequest(std::span<const RemoteSeries> series);
// Encodes the message without compression.
std::string EncodeWriteMessage(std::span<const RemoteSeries> series);

// Returns the fingerprint that a decoder with this seed computes for labels in this order. Allocates memory;
// sources with labels in memory call it once per series.
uint64_t Fingerprint(std::span<const LabelView> labels, uint64_t seed = 0);

// Returns true for the NaN whose bits mark the end of a series, and false for any other NaN.
bool IsStaleMarker(double value);
double StaleMarker();

}  // namespace taut::server
