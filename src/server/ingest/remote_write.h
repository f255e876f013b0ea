// Prometheus remote write 1.0 bodies: snappy block, then the protobuf message prometheus.WriteRequest.
//
// Source: the Prometheus Remote-Write 1.0 specification. Wire form and what is skipped:
// docs/reference/ingest.md.
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
  int64_t timestamp_ms = 0;  // Unix
};

// One series of a request. All views are valid during the call that passes it.
struct SeriesView {
  std::span<const LabelView> labels;  // as sent; the metric name is the label __name__
  std::span<const RemoteSample> samples;
  // Hash of the labels as they were encoded: equal bytes have equal fingerprints, so a caller that has seen
  // one need not look at the labels again. Other orders of the same labels have other fingerprints.
  uint64_t fingerprint = 0;
};

struct DecodeCounts {
  uint64_t series = 0, samples = 0;  // handed over
  // Over a label limit or without a metric name: not handed over, the rest of the request is.
  uint64_t refused_series = 0, refused_samples = 0;
  uint64_t histograms = 0;    // native histograms, skipped
  std::string first_refusal;  // why, for the answer to the sender; "" if none
};

struct RemoteWriteLimits {
  size_t max_decompressed_bytes = size_t{32} << 20;
  size_t max_series = 100'000;
  size_t max_samples = 1'000'000;
  // Of one series; past them the series is refused, not the request.
  size_t max_labels = 128;
  size_t max_label_name_bytes = 1024;
  size_t max_label_value_bytes = 8192;
};

// One object, one thread; keeps its buffers from request to request, so that steady traffic allocates
// nothing.
class RemoteWriteDecoder {
 public:
  using SeriesFn = absl::FunctionRef<void(const SeriesView&)>;

  // `seed`: of the fingerprints. A secret one keeps a sender from making two series collide.
  explicit RemoteWriteDecoder(const RemoteWriteLimits& limits = {}, uint64_t seed = 0)
      : limits_(limits), seed_(seed) {}

  // Calls fn once per series that has samples, in the order of the request. All lengths are checked before
  // anything is allocated for them.
  //   InvalidArgument     not a snappy block, or not a WriteRequest. What is wrong in the snappy block is
  //                       found before fn is called, a damaged message only after the series before the
  //                       damage.
  //   ResourceExhausted   larger than a limit on the whole request; the message names it.
  // About 0.2 us per series of 10 labels and one sample.
  absl::StatusOr<DecodeCounts> Decode(std::string_view body, SeriesFn fn);
  // The same for the message without snappy.
  absl::StatusOr<DecodeCounts> DecodeMessage(std::string_view message, SeriesFn fn);

 private:
  struct Cursor;
  enum class Refusal : uint8_t { kNone, kTooManyLabels, kLongName, kLongValue, kNoMetricName };

  absl::Status ParseSeries(std::string_view message, SeriesFn fn, DecodeCounts& counts);
  // False: damaged.
  bool ParseLabel(std::string_view message);
  bool ParseSample(std::string_view message);
  void AddLabelBytes(const char* begin, const char* end);
  void Refuse(DecodeCounts& counts) const;

  const RemoteWriteLimits limits_;
  const uint64_t seed_;
  std::unique_ptr<char[]> buffer_;
  size_t buffer_bytes_ = 0;
  // Of the series at hand.
  std::vector<LabelView> labels_;
  std::vector<RemoteSample> samples_;
  std::string_view block_;   // the labels as encoded, while they lie side by side
  std::string split_block_;  // else a copy of them
  Refusal refusal_ = Refusal::kNone;
  bool has_metric_name_ = false;
};

// What a sender holds of one series, for EncodeWriteRequest.
struct RemoteSeries {
  std::vector<LabelView> labels;
  std::vector<RemoteSample> samples;
};
// The body a Prometheus would send, labels in the order given. For tests, load generation and our own agent.
std::string EncodeWriteRequest(std::span<const RemoteSeries> series);
// The same without snappy.
std::string EncodeWriteMessage(std::span<const RemoteSeries> series);

// The fingerprint that a decoder with this seed gives to labels sent in this order. Allocates; for sources
// that have labels in memory, once per series.
uint64_t Fingerprint(std::span<const LabelView> labels, uint64_t seed = 0);

// The NaN that says "this series has ended", by its bits; no other NaN does.
bool IsStaleMarker(double value);
double StaleMarker();

}  // namespace taut::server
