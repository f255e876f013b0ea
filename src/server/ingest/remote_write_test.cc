// Tests of remote-write bodies: the encoding byte by byte, round trips, limits, and damage of every kind.
#include "server/ingest/remote_write.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <snappy.h>

#include <bit>
#include <cmath>

#include "common/base/strings.h"

namespace taut::server {
namespace {

using ::testing::HasSubstr;
using Labels = std::vector<std::pair<std::string, std::string>>;

struct KeptSeries {
  Labels labels;
  std::vector<std::pair<uint64_t, int64_t>> samples;  // values as bits, because NaN does not equal itself
  uint64_t fingerprint = 0;
};

KeptSeries Keep(const SeriesView& s) {
  KeptSeries kept{.labels = {}, .samples = {}, .fingerprint = s.fingerprint};
  for (const LabelView& label : s.labels) kept.labels.emplace_back(label.name, label.value);
  for (const RemoteSample& x : s.samples)
    kept.samples.emplace_back(std::bit_cast<uint64_t>(x.value), x.timestamp_ms);
  return kept;
}

struct Decoded {
  absl::StatusOr<DecodeCounts> counts;
  std::vector<KeptSeries> series;
};

Decoded DecodeMessage(std::string_view message, const RemoteWriteLimits& limits = {}) {
  RemoteWriteDecoder decoder(limits);
  std::vector<KeptSeries> series;
  absl::StatusOr<DecodeCounts> counts =
      decoder.DecodeMessage(message, [&series](const SeriesView& s) { series.push_back(Keep(s)); });
  return {std::move(counts), std::move(series)};
}

Decoded DecodeBody(std::string_view body, const RemoteWriteLimits& limits = {}) {
  RemoteWriteDecoder decoder(limits);
  std::vector<KeptSeries> series;
  absl::StatusOr<DecodeCounts> counts =
      decoder.Decode(body, [&series](const SeriesView& s) { series.push_back(Keep(s)); });
  return {std::move(counts), std::move(series)};
}

std::string Snappy(std::string_view message) {
  std::string body;
  snappy::Compress(message.data(), message.size(), &body);
  return body;
}

std::string Field(int number, std::string_view bytes) {
  EXPECT_LT(bytes.size(), 128U);
  std::string out{static_cast<char>(number << 3 | 2), static_cast<char>(bytes.size())};
  out += bytes;
  return out;
}
std::string LabelField(std::string_view name, std::string_view value) {
  return Field(1, Field(1, name) + Field(2, value));
}

// Encoded by hand from the message's definition: field 1 length-delimited is 0x0A, a double 0x09, an int64
// 0x10.
const std::string kUpMessage =
    std::string("\x0A\x2B", 2) +                                       // timeseries, 43 bytes
    std::string("\x0A\x0E\x0A\x08__name__\x12\x02up", 16) +            // label, 14 bytes
    std::string("\x0A\x07\x0A\x03job\x12\x00", 9) +                    // label with an empty value
    std::string("\x12\x10\x09\x00\x00\x00\x00\x00\x00\xF8\x3F", 11) +  // sample, 16 bytes: 1.5
    std::string("\x10\x80\xD0\x95\xFF\xBC\x31", 7);                    // time 1,700,000,000,000 ms

TEST(RemoteWrite, ReadsTheWireFormByteByByte) {
  const Decoded d = DecodeMessage(kUpMessage);
  ASSERT_TRUE(d.counts.ok()) << d.counts.status();
  EXPECT_EQ(d.counts->series, 1U);
  EXPECT_EQ(d.counts->samples, 1U);
  ASSERT_EQ(d.series.size(), 1U);
  EXPECT_EQ(d.series[0].labels, (Labels{{"__name__", "up"}, {"job", ""}}));
  ASSERT_EQ(d.series[0].samples.size(), 1U);
  EXPECT_EQ(std::bit_cast<double>(d.series[0].samples[0].first), 1.5);
  EXPECT_EQ(d.series[0].samples[0].second, 1'700'000'000'000);
}

TEST(RemoteWrite, SkipsWhatItDoesNotRead) {
  const std::string sample = std::string("\x10\x05", 2);  // value 0 is not sent
  const std::string series = LabelField("__name__", "up") + Field(3, "exemplar") + Field(2, sample) +
                             Field(4, "h") + std::string("\x28\x01\x35", 3) + "1234" +
                             std::string("\x39", 1) + "12345678";
  const std::string metadata = Field(3, "\x08\x01\x12\x02up");
  const Decoded d = DecodeMessage(metadata + Field(1, series) + metadata);
  ASSERT_TRUE(d.counts.ok()) << d.counts.status();
  EXPECT_EQ(d.counts->histograms, 1U);
  ASSERT_EQ(d.series.size(), 1U);
  EXPECT_EQ(d.series[0].samples, (std::vector<std::pair<uint64_t, int64_t>>{{0, 5}}));
}

TEST(RemoteWrite, FingerprintsAreOfTheLabelsAlone) {
  const std::string a = LabelField("__name__", "up"), b = LabelField("job", "x"),
                    sample = Field(2, "\x10\x05");
  const Decoded together = DecodeMessage(Field(1, a + b + sample));
  const Decoded apart = DecodeMessage(Field(1, a + sample + b));
  const Decoded last = DecodeMessage(Field(1, sample + sample + a + b));
  const Decoded other = DecodeMessage(Field(1, b + a + sample));
  ASSERT_EQ(together.series.size(), 1U);
  EXPECT_EQ(apart.series.at(0).fingerprint, together.series[0].fingerprint);
  EXPECT_EQ(last.series.at(0).fingerprint, together.series[0].fingerprint);
  EXPECT_NE(other.series.at(0).fingerprint, together.series[0].fingerprint);
  const std::vector<LabelView> labels = {{"__name__", "up"}, {"job", "x"}};
  EXPECT_EQ(Fingerprint(labels), together.series[0].fingerprint);
  EXPECT_NE(Fingerprint(labels, 1), together.series[0].fingerprint);
}

TEST(RemoteWrite, RefusesSeriesOverALimitAndGoesOn) {
  RemoteWriteLimits limits;
  limits.max_labels = 3;
  limits.max_label_name_bytes = 8;
  limits.max_label_value_bytes = 6;
  const std::string name = LabelField("__name__", "up"), sample = Field(2, "\x10\x05");
  const std::string good = Field(1, name + LabelField("a", "1") + LabelField("b", "2") + sample);
  const auto refused = [&](const std::string& series, const char* why) {
    const Decoded d = DecodeMessage(good + Field(1, series + sample + sample) + good, limits);
    ASSERT_TRUE(d.counts.ok()) << d.counts.status();
    EXPECT_EQ(d.counts->series, 2U);
    EXPECT_EQ(d.counts->refused_series, 1U);
    EXPECT_EQ(d.counts->refused_samples, 2U);
    EXPECT_THAT(d.counts->first_refusal, HasSubstr(why));
  };
  refused(name + LabelField("a", "1") + LabelField("b", "2") + LabelField("c", "3"), "more than 3 labels");
  refused(name + LabelField("a12345678", "1"), "name is longer than 8 bytes");
  refused(name + LabelField("a", "1234567"), "value is longer than 6 bytes");
  refused(LabelField("a", "1"), "no metric name");
  refused(LabelField("__name__", ""), "no metric name");
}

TEST(RemoteWrite, RefusesRequestsOverALimit) {
  const std::string series =
      Field(1, LabelField("__name__", "up") + Field(2, "\x10\x05") + Field(2, "\x10\x06"));
  RemoteWriteLimits limits;
  limits.max_series = 2;
  EXPECT_TRUE(DecodeMessage(series + series, limits).counts.ok());
  Decoded d = DecodeMessage(series + series + series, limits);
  EXPECT_EQ(d.counts.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(d.counts.status()), HasSubstr("series"));
  limits = {};
  limits.max_samples = 4;
  EXPECT_TRUE(DecodeMessage(series + series, limits).counts.ok());
  d = DecodeMessage(series + series + series, limits);
  EXPECT_EQ(d.counts.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(d.counts.status()), HasSubstr("samples"));
  limits = {};
  limits.max_decompressed_bytes = series.size();
  EXPECT_TRUE(DecodeBody(Snappy(series), limits).counts.ok());
  d = DecodeBody(Snappy(series + series), limits);
  EXPECT_EQ(d.counts.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(Message(d.counts.status()), HasSubstr("bytes after decompression"));
}

TEST(RemoteWrite, RefusesSnappyThatCannotBe) {
  for (const std::string& body :
       {std::string(), std::string("\xFF\xFF\xFF\xFF\xFF\xFF", 6), std::string("\x05hello"),
        // The block declares 16 MiB and has 10 bytes: it is refused before memory is allocated.
        std::string("\x80\x80\x80\x08", 4) + "012345"}) {
    const Decoded d = DecodeBody(body);
    EXPECT_EQ(d.counts.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(d.series.empty());
  }
  // The block with the greatest possible growth is accepted.
  EXPECT_TRUE(
      DecodeBody(Snappy(Field(3, std::string(100, 'x')) + Field(3, std::string(100, 'x')))).counts.ok());
}

TEST(RemoteWrite, EveryPrefixOfAMessageIsReadOrRefused) {
  const std::string message = kUpMessage + kUpMessage;
  for (size_t n = 0; n < message.size(); ++n) {
    const Decoded d = DecodeMessage(std::string_view(message).substr(0, n));
    const bool whole = n == 0 || n == kUpMessage.size();
    EXPECT_EQ(d.counts.ok(), whole) << n;
    if (!whole) {
      EXPECT_THAT(Message(d.counts.status()), HasSubstr("damaged"));
    }
    EXPECT_EQ(d.series.size(), n < kUpMessage.size() ? 0U : 1U);
  }
}

TEST(RemoteWrite, OnlyOneNaNIsTheStaleMarker) {
  EXPECT_TRUE(std::isnan(StaleMarker()));
  EXPECT_TRUE(IsStaleMarker(StaleMarker()));
  EXPECT_FALSE(IsStaleMarker(std::nan("")));
  EXPECT_FALSE(IsStaleMarker(0));
  const RemoteSeries series{{{"__name__", "up"}}, {{StaleMarker(), 5}}};
  const Decoded d = DecodeBody(EncodeWriteRequest({&series, 1}));
  EXPECT_TRUE(IsStaleMarker(std::bit_cast<double>(d.series.at(0).samples.at(0).first)));
}

RC_GTEST_PROP(RemoteWrite, WhatIsEncodedIsDecoded, ()) {
  using Samples = std::vector<std::pair<uint64_t, int64_t>>;
  const auto all = *rc::gen::arbitrary<std::vector<std::pair<Labels, Samples>>>();
  std::vector<RemoteSeries> series;
  size_t expected = 0;
  for (const auto& [labels, samples] : all) {
    RemoteSeries s{{{"__name__", "m"}}, {}};
    for (const auto& [name, value] : labels) s.labels.push_back({name, value});
    for (const auto& [bits, time] : samples) s.samples.push_back({std::bit_cast<double>(bits), time});
    expected += s.samples.empty() ? 0 : 1;
    series.push_back(std::move(s));
  }
  const Decoded d = DecodeBody(EncodeWriteRequest(series));
  RC_ASSERT(d.counts.ok());
  RC_ASSERT(d.counts->series == all.size());
  RC_ASSERT(d.series.size() == expected);
  size_t at = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].second.empty()) continue;
    Labels labels = {{"__name__", "m"}};
    labels.insert(labels.end(), all[i].first.begin(), all[i].first.end());
    RC_ASSERT(d.series[at].labels == labels);
    RC_ASSERT(d.series[at].samples == all[i].second);
    RC_ASSERT(d.series[at].fingerprint == Fingerprint(series[i].labels));
    ++at;
  }
}

RC_GTEST_PROP(RemoteWrite, DamageIsReadOrRefusedWithinTheLimits, ()) {
  std::string message = kUpMessage + kUpMessage;
  for (const auto& [place, byte] : *rc::gen::container<std::vector<std::pair<size_t, char>>>(
           3, rc::gen::pair(rc::gen::inRange<size_t>(0, message.size()), rc::gen::arbitrary<char>()))) {
    message[place] = byte;
  }
  const Decoded d = DecodeMessage(message);
  RC_ASSERT(d.counts.ok() || d.counts.status().code() == absl::StatusCode::kInvalidArgument);
  if (d.counts.ok()) RC_ASSERT(d.counts->series + d.counts->refused_series <= message.size() / 2);
}

}  // namespace
}  // namespace taut::server
