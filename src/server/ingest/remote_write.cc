// A hand-written parser for the only message that the decoder reads: labels are views, and nothing is copied.
#include "server/ingest/remote_write.h"

#include <snappy.h>

#include <bit>
#include <cstring>

#include "common/base/name_template.h"
#include "common/base/strings.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace taut::server {
namespace {

constexpr uint64_t kStaleBits = 0x7ff0000000000002;

// Greatest growth of a snappy block: an element of 3 bytes yields at most 64 bytes. A block that declares a
// greater growth is refused before its memory is allocated.
constexpr uint64_t kMaxSnappyFactor = 22;

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

absl::Status Damaged(std::string_view what) {
  return absl::InvalidArgumentError(StrCat("remote write: damaged message: ", what));
}

absl::Status TooMuch(std::string_view what, uint64_t value, uint64_t limit) {
  return absl::ResourceExhaustedError(
      StrCat("remote write: the request has ", value, " ", what, "; the maximum is ", limit));
}

}  // namespace

// Reads protobuf fields of a message; each read returns false at the end of the message.
struct RemoteWriteDecoder::Cursor {
  const uint8_t* p;
  const uint8_t* end;

  explicit Cursor(std::string_view s) : p(reinterpret_cast<const uint8_t*>(s.data())), end(p + s.size()) {}

  bool done() const { return p == end; }
  const char* at() const { return reinterpret_cast<const char*>(p); }

  bool Varint(uint64_t& out) {
    if (p != end && *p < 0x80) [[likely]] {
      out = *p++;
      return true;
    }
    out = 0;
    for (int shift = 0; shift < 64 && p != end; shift += 7) {
      const uint8_t byte = *p++;
      out |= uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }
  bool Bytes(std::string_view& out) {
    uint64_t size = 0;
    if (!Varint(size) || size > static_cast<uint64_t>(end - p)) return false;
    out = {at(), size};
    p += size;
    return true;
  }
  bool Fixed64(uint64_t& out) {
    if (end - p < 8) return false;
    std::memcpy(&out, p, 8);
    p += 8;
    return true;
  }
  bool Skip(uint32_t wire) {
    uint64_t ignored = 0;
    std::string_view bytes;
    switch (wire) {
      case kVarint:
        return Varint(ignored);
      case kFixed64:
        return Fixed64(ignored);
      case kBytes:
        return Bytes(bytes);
      case kFixed32:
        if (end - p < 4) return false;
        p += 4;
        return true;
      default:
        return false;  // this message has no fields of the wire type "group"
    }
  }
  // Field numbers above 2^29 are not valid in protobuf.
  bool Tag(uint32_t& field, uint32_t& wire) {
    uint64_t tag = 0;
    if (!Varint(tag) || tag > UINT32_MAX || tag < 8) return false;
    field = static_cast<uint32_t>(tag >> 3);
    wire = static_cast<uint32_t>(tag & 7);
    return true;
  }
};

absl::StatusOr<DecodeCounts> RemoteWriteDecoder::Decode(std::string_view body, SeriesFn fn) {
  size_t size = 0;
  if (!snappy::GetUncompressedLength(body.data(), body.size(), &size)) {
    return absl::InvalidArgumentError("remote write: the body is not a snappy block");
  }
  if (size > limits_.max_decompressed_bytes) {
    return TooMuch("bytes after decompression", size, limits_.max_decompressed_bytes);
  }
  if (size > kMaxSnappyFactor * body.size()) {
    return absl::InvalidArgumentError("remote write: the snappy block declares an impossible length");
  }
  if (size > buffer_bytes_) {
    buffer_ = std::make_unique_for_overwrite<char[]>(size);
    buffer_bytes_ = size;
  }
  if (!snappy::RawUncompress(body.data(), body.size(), buffer_.get())) {
    return absl::InvalidArgumentError("remote write: the snappy block is damaged");
  }
  return DecodeMessage({buffer_.get(), size}, fn);
}

absl::StatusOr<DecodeCounts> RemoteWriteDecoder::DecodeMessage(std::string_view message, SeriesFn fn) {
  DecodeCounts counts;
  Cursor in(message);
  while (!in.done()) {
    uint32_t field = 0, wire = 0;
    if (!in.Tag(field, wire)) return Damaged("a field of the request");
    if (field != 1 || wire != kBytes) {
      if (!in.Skip(wire)) return Damaged("a field of the request");
      continue;
    }
    std::string_view series;
    if (!in.Bytes(series)) return Damaged("truncated series");
    if (absl::Status s = ParseSeries(series, fn, counts); !s.ok()) return s;
  }
  return counts;
}

absl::Status RemoteWriteDecoder::ParseSeries(std::string_view message, SeriesFn fn, DecodeCounts& counts) {
  labels_.clear();
  samples_.clear();
  block_ = {};
  split_block_.clear();
  refusal_ = Refusal::kNone;
  has_metric_name_ = false;
  const uint64_t room = limits_.max_samples - counts.samples - counts.refused_samples;
  Cursor in(message);
  while (!in.done()) {
    const char* const begin = in.at();
    uint32_t field = 0, wire = 0;
    if (!in.Tag(field, wire)) return Damaged("a field of a series");
    if (wire != kBytes || field > 2) {
      if (!in.Skip(wire)) return Damaged("a field of a series");
      counts.histograms += field == 4 && wire == kBytes ? 1 : 0;
      continue;
    }
    std::string_view bytes;
    if (!in.Bytes(bytes)) return Damaged(field == 1 ? "truncated label" : "truncated sample");
    if (field == 1) {
      if (!ParseLabel(bytes)) return Damaged("a label");
      AddLabelBytes(begin, in.at());
    } else {
      if (!ParseSample(bytes)) return Damaged("a sample");
      if (samples_.size() > room)
        return TooMuch("samples or more", limits_.max_samples + 1, limits_.max_samples);
    }
  }
  if (counts.series + counts.refused_series >= limits_.max_series) {
    return TooMuch("series or more", limits_.max_series + 1, limits_.max_series);
  }
  if (refusal_ == Refusal::kNone && !has_metric_name_) refusal_ = Refusal::kNoMetricName;
  if (refusal_ != Refusal::kNone) {
    Refuse(counts);
    return absl::OkStatus();
  }
  ++counts.series;
  counts.samples += samples_.size();
  if (samples_.empty()) return absl::OkStatus();
  const std::string_view block = split_block_.empty() ? block_ : std::string_view(split_block_);
  fn({labels_, samples_, XXH3_64bits_withSeed(block.data(), block.size(), seed_)});
  return absl::OkStatus();
}

bool RemoteWriteDecoder::ParseLabel(std::string_view message) {
  LabelView label;
  Cursor in(message);
  while (!in.done()) {
    uint32_t field = 0, wire = 0;
    if (!in.Tag(field, wire)) return false;
    if (wire == kBytes && field <= 2) {
      if (!in.Bytes(field == 1 ? label.name : label.value)) return false;
    } else if (!in.Skip(wire)) {
      return false;
    }
  }
  if (label.name.size() > limits_.max_label_name_bytes) {
    refusal_ = Refusal::kLongName;
  } else if (label.value.size() > limits_.max_label_value_bytes) {
    refusal_ = Refusal::kLongValue;
  } else if (labels_.size() >= limits_.max_labels) {
    refusal_ = Refusal::kTooManyLabels;
  } else {
    has_metric_name_ |= label.name == kMetricNameLabel && !label.value.empty();
    labels_.push_back(label);
  }
  return true;
}

bool RemoteWriteDecoder::ParseSample(std::string_view message) {
  uint64_t value_bits = 0, timestamp = 0;  // absent fields are 0
  Cursor in(message);
  while (!in.done()) {
    uint32_t field = 0, wire = 0;
    if (!in.Tag(field, wire)) return false;
    if (field == 1 && wire == kFixed64) {
      if (!in.Fixed64(value_bits)) return false;
    } else if (field == 2 && wire == kVarint) {
      if (!in.Varint(timestamp)) return false;
    } else if (!in.Skip(wire)) {
      return false;
    }
  }
  samples_.push_back({std::bit_cast<double>(value_bits), static_cast<int64_t>(timestamp)});
  return true;
}

void RemoteWriteDecoder::AddLabelBytes(const char* begin, const char* end) {
  const auto size = static_cast<size_t>(end - begin);
  if (split_block_.empty() && (block_.empty() || block_.data() + block_.size() == begin)) {
    block_ = {block_.empty() ? begin : block_.data(), block_.size() + size};
    return;
  }
  if (split_block_.empty()) split_block_ = block_;
  split_block_.append(begin, size);
}

void RemoteWriteDecoder::Refuse(DecodeCounts& counts) const {
  ++counts.refused_series;
  counts.refused_samples += samples_.size();
  if (!counts.first_refusal.empty()) return;
  switch (refusal_) {
    case Refusal::kTooManyLabels:
      counts.first_refusal = StrCat("a series has more than ", limits_.max_labels, " labels");
      break;
    case Refusal::kLongName:
      counts.first_refusal = StrCat("a label name is longer than ", limits_.max_label_name_bytes, " bytes");
      break;
    case Refusal::kLongValue:
      counts.first_refusal = StrCat("a label value is longer than ", limits_.max_label_value_bytes, " bytes");
      break;
    case Refusal::kNoMetricName:
    case Refusal::kNone:
      counts.first_refusal = "a series has no metric name (label __name__)";
      break;
  }
}

namespace {

void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void PutBytes(uint32_t field, std::string_view bytes, std::string& out) {
  PutVarint(field << 3 | kBytes, out);
  PutVarint(bytes.size(), out);
  out.append(bytes);
}

void PutLabels(std::span<const LabelView> labels, std::string& out) {
  std::string one;
  for (const LabelView& label : labels) {
    one.clear();
    if (!label.name.empty()) PutBytes(1, label.name, one);
    if (!label.value.empty()) PutBytes(2, label.value, one);
    PutBytes(1, one, out);
  }
}

}  // namespace

uint64_t Fingerprint(std::span<const LabelView> labels, uint64_t seed) {
  std::string block;
  PutLabels(labels, block);
  return XXH3_64bits_withSeed(block.data(), block.size(), seed);
}

std::string EncodeWriteMessage(std::span<const RemoteSeries> series) {
  std::string out, one, part;
  for (const RemoteSeries& s : series) {
    one.clear();
    PutLabels(s.labels, one);
    for (const RemoteSample& sample : s.samples) {
      part.clear();
      // Omits a value whose bits are all 0, as protobuf writers do.
      if (const auto bits = std::bit_cast<uint64_t>(sample.value); bits != 0) {
        part.push_back(static_cast<char>(1 << 3 | kFixed64));
        part.append(reinterpret_cast<const char*>(&bits), sizeof(bits));
      }
      if (sample.timestamp_ms != 0) {
        part.push_back(static_cast<char>(2 << 3 | kVarint));
        PutVarint(static_cast<uint64_t>(sample.timestamp_ms), part);
      }
      PutBytes(2, part, one);
    }
    PutBytes(1, one, out);
  }
  return out;
}

std::string EncodeWriteRequest(std::span<const RemoteSeries> series) {
  const std::string message = EncodeWriteMessage(series);
  std::string body;
  snappy::Compress(message.data(), message.size(), &body);
  return body;
}

bool IsStaleMarker(double value) { return std::bit_cast<uint64_t>(value) == kStaleBits; }
double StaleMarker() { return std::bit_cast<double>(kStaleBits); }

}  // namespace taut::server
