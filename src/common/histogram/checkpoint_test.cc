// Tests the envelope of checkpoints: round trips, and detection of any damage.
#include "common/histogram/checkpoint.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "common/base/random.h"
#include "common/histogram/decay_bank.h"
#include "common/histogram/decaying_histogram.h"
#include "common/histogram/sliding_max.h"
#include "common/histogram/window_histogram.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace taut {
namespace {

std::string RandomBytes(size_t size) {
  Rng rng(size);
  std::string bytes(size, '\0');
  for (char& c : bytes) c = static_cast<char>(rng.Next());
  return bytes;
}

std::string Text(size_t size) {
  std::string text;
  while (text.size() < size) text += "window " + std::to_string(text.size() % 977) + " of job ";
  text.resize(size);
  return text;
}

RC_GTEST_PROP(Checkpoint, RoundTrips, (std::string payload)) {
  for (int doubling = *rc::gen::inRange(0, 10); doubling > 0; --doubling) payload += payload;
  const std::string sealed = SealCheckpoint(payload);
  const absl::StatusOr<std::string> opened = OpenCheckpoint(sealed);
  RC_ASSERT(opened.ok());
  RC_ASSERT(*opened == payload);
  RC_ASSERT(sealed.size() <= payload.size() + kCheckpointHeaderBytes);
  RC_ASSERT(SealCheckpoint(payload) == sealed);
}

TEST(Checkpoint, CompressesOnlyWhereItPays) {
  const std::string text = Text(1 << 20);
  EXPECT_LT(SealCheckpoint(text).size(), text.size() / 10);
  EXPECT_EQ(SealCheckpoint(text, CheckpointCompression::kNever).size(), text.size() + kCheckpointHeaderBytes);
  const std::string noise = RandomBytes(1 << 20);
  EXPECT_EQ(SealCheckpoint(noise).size(), noise.size() + kCheckpointHeaderBytes);
  // The trial sees only text; noise follows the text.
  const std::string mixed = Text(200'000) + RandomBytes(8 << 20);
  EXPECT_EQ(SealCheckpoint(mixed).size(), mixed.size() + kCheckpointHeaderBytes);
  for (const std::string* payload : {&text, &noise, &mixed}) {
    EXPECT_EQ(OpenCheckpoint(SealCheckpoint(*payload)).value(), *payload);
  }
}

TEST(Checkpoint, EveryFlippedByteIsFound) {
  for (const std::string& payload : {std::string(), Text(50), RandomBytes(300), Text(5000)}) {
    const std::string sealed = SealCheckpoint(payload);
    for (size_t at = 0; at < sealed.size(); ++at) {
      for (const int flip : {0x01, 0x80, 0xff}) {
        std::string bad = sealed;
        bad[at] = static_cast<char>(bad[at] ^ flip);
        ASSERT_FALSE(OpenCheckpoint(bad).ok()) << "byte " << at << " of " << sealed.size() << " ^ " << flip;
      }
    }
  }
}

TEST(Checkpoint, SaysWhatIsWrong) {
  const std::string sealed = SealCheckpoint("state of a job");
  for (size_t size = 1; size < sealed.size(); ++size) {
    const absl::Status cut = OpenCheckpoint(sealed.substr(0, size)).status();
    EXPECT_EQ(cut.code(), absl::StatusCode::kDataLoss) << size;
    EXPECT_NE(std::string(cut.message()).find("truncated"), std::string::npos) << cut;
  }
  EXPECT_EQ(OpenCheckpoint("").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenCheckpoint("#!/bin/sh\n").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(OpenCheckpoint(sealed + "x").status().code(), absl::StatusCode::kDataLoss);

  std::string newer = sealed;
  newer[8] = 2;
  EXPECT_EQ(OpenCheckpoint(newer).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(std::string(OpenCheckpoint(newer).status().message()).find("written by a newer version"),
            std::string::npos);

  std::string damaged = sealed;
  damaged.back() = '?';
  EXPECT_NE(std::string(OpenCheckpoint(damaged).status().message()).find("checksum"), std::string::npos);
}

TEST(Checkpoint, InflatesNoFurtherThanAllowed) {
  const std::string sealed = SealCheckpoint(std::string(10 << 20, 'a'));
  EXPECT_LT(sealed.size(), 10'000U);
  EXPECT_EQ(OpenCheckpoint(sealed, (10 << 20) - 1).status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(OpenCheckpoint(sealed, 10 << 20).value().size(), size_t{10} << 20);
}

// A checkpoint of these bytes, written by an earlier version, must stay readable.
TEST(Checkpoint, TheFormatIsWhatTheDocumentSays) {
  const std::string sealed = SealCheckpoint("taut");
  EXPECT_EQ(sealed.substr(0, 28), std::string("TAUTCKPT\1\0\0\0\4\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0", 28));
  EXPECT_EQ(sealed.substr(36), "taut");
}

// Passes damaged bytes to `load`: the envelope's checksum does not protect the reader of a record from a faulty
// writer.
template <typename Load>
void ReadDamaged(const std::string& bytes, uint64_t seed, Load load) {
  Rng rng(seed);
  for (int i = 0; i < 3000; ++i) {
    std::string bad = bytes;
    for (uint64_t flips = 1 + rng.Below(4); flips > 0; --flips) {
      bad[rng.Below(bad.size())] = static_cast<char>(rng.Next());
    }
    if (rng.Below(4) == 0) bad.resize(rng.Below(bad.size() + 1));
    ByteReader in(bad);
    load(in);
  }
}

TEST(Checkpoint, RecordsSurviveDamage) {
  const DecayRates rates = DecayRates::FromHalfLives(std::vector<double>{3600, 86400});
  DecayingHistogram decaying(Grid::Cpu(), 43200);
  WindowHistogram window(Grid::Cpu());
  SlidingMax max;
  DecayBank bank(rates);
  Rng rng(1);
  for (int t = 0; t < 500; ++t) {
    const double value = rng.Pareto(0.1, 2);
    decaying.Add(value, 1 + rng.Uniform(), t * 300);
    window.Add(value, t % 3);
    max.Add(t, Grid::Cpu().BucketOf(value));
    bank.Step(1, std::vector<BucketShare>{{Grid::Cpu().BucketOf(value), 1.0F}});
  }
  const auto saved = [](const auto& record) {
    std::string bytes;
    ByteWriter out(&bytes);
    record.Save(out);
    return bytes;
  };
  int accepted = 0;
  ReadDamaged(saved(decaying), 2, [&](ByteReader& in) {
    auto h = DecayingHistogram::Load(in, Grid::Cpu());
    if (!h.ok()) return;
    ++accepted;
    h->Add(1.0, 1.0, 200'000);
    EXPECT_GE(h->Percentile(0.95, PercentileOf::kLoad), 0.001);
    EXPECT_TRUE(std::isfinite(h->Mean()));
  });
  ReadDamaged(saved(window), 3, [&](ByteReader& in) {
    auto h = WindowHistogram::Load(in, Grid::Cpu());
    if (!h.ok()) return;
    ++accepted;
    EXPECT_TRUE(std::isfinite(h->Mean()));
    EXPECT_LE(h->Percentile(0.95), h->Peak());
  });
  ReadDamaged(saved(max), 4, [&](ByteReader& in) {
    auto m = SlidingMax::Load(in);
    if (!m.ok()) return;
    ++accepted;
    EXPECT_LT(m->Max(1000, 2000).value_or(0), Grid::kMaxBuckets);
  });
  ReadDamaged(saved(bank), 5, [&](ByteReader& in) {
    DecayBank b(rates);
    if (!b.Load(in).ok()) return;
    ++accepted;
    BankShares shares;
    b.Step(400, std::vector<BucketShare>{{3, 1.0F}});
    b.Shares(&shares);
    for (const float share : shares.over) EXPECT_TRUE(share >= 0 && share <= 1.001F) << share;
  });
  EXPECT_GT(accepted, 0);  // some damaged records are accepted: the checks above have run
}

TEST(Checkpoint, SmallerIsTheSmallerOfBoth) {
  const std::string text = Text(2000), noise = RandomBytes(2000);
  const std::string packed = SealCheckpoint(text, CheckpointCompression::kSmaller);
  EXPECT_LT(packed.size(), text.size() / 2);
  EXPECT_EQ(*OpenCheckpoint(packed), text);
  EXPECT_EQ(SealCheckpoint(noise, CheckpointCompression::kSmaller).size(),
            noise.size() + kCheckpointHeaderBytes);
}

TEST(Checkpoint, CompressesFrom4KiBAndAQuarterSaved) {
  const auto stored = [](const std::string& payload, CheckpointCompression how) {
    return SealCheckpoint(payload, how).size() - kCheckpointHeaderBytes;
  };
  EXPECT_EQ(stored(Text(4095), CheckpointCompression::kAuto), 4095U);
  EXPECT_LT(stored(Text(4096), CheckpointCompression::kAuto), 2048U);
  int exact = 0;
  // Noise with a tail of equal bytes: the longer the tail, the more compression saves.
  for (size_t size = 4096; size < 4200; ++size) {
    std::string payload = RandomBytes(3045);
    payload.resize(size, 'a');
    const size_t packed = stored(payload, CheckpointCompression::kSmaller), most = size - size / 4;
    EXPECT_EQ(stored(payload, CheckpointCompression::kAuto), packed <= most ? packed : size) << size;
    exact += packed == most ? 1 : 0;
  }
  EXPECT_GT(exact, 0);
}

TEST(Checkpoint, WhatDoesNotShrinkAtItsBeginningIsNotTried) {
  const std::string payload = RandomBytes(128 << 10) + Text(1 << 20);
  EXPECT_EQ(SealCheckpoint(payload).size(), payload.size() + kCheckpointHeaderBytes);
  EXPECT_LT(SealCheckpoint(payload, CheckpointCompression::kSmaller).size(), payload.size() / 2);
}

TEST(Checkpoint, SmallerIsRawUnlessAByteIsSaved) {
  int raw = 0;
  for (size_t equal = 0; equal < 60; ++equal) {
    const std::string payload = RandomBytes(500) + std::string(equal, 'a');
    const std::string sealed = SealCheckpoint(payload, CheckpointCompression::kSmaller);
    const bool is_packed = sealed[10] != 0;
    EXPECT_EQ(is_packed, sealed.size() < payload.size() + kCheckpointHeaderBytes) << equal;
    raw += is_packed ? 0 : 1;
  }
  EXPECT_GT(raw, 0);
  EXPECT_LT(raw, 60);
}

// Returns an envelope with a valid checksum and any declared size (docs/reference/storage.md, "Checkpoints").
std::string EnvelopeOf(std::string_view stored, uint64_t payload_size, uint16_t flags, uint16_t version = 1) {
  std::string out = "TAUTCKPT";
  ByteWriter writer(&out);
  writer.Put(version);
  writer.Put(flags);
  writer.Put(uint64_t{stored.size()});
  writer.Put(payload_size);
  writer.Put(
      uint64_t{XXH3_64bits_withSeed(stored.data(), stored.size(), XXH3_64bits(out.data(), out.size()))});
  return out.append(stored);
}

TEST(Checkpoint, WhatAnEnvelopeDeclaresIsChecked) {
  const std::string text = Text(5000);
  const std::string frame = SealCheckpoint(text).substr(kCheckpointHeaderBytes);
  ASSERT_LT(frame.size(), text.size());
  EXPECT_EQ(OpenCheckpoint(EnvelopeOf(text, 5000, 0)).value(), text);
  EXPECT_EQ(OpenCheckpoint(EnvelopeOf(frame, 5000, 1)).value(), text);
  const auto refused = [](const std::string& envelope, std::string_view why) {
    const absl::Status status = OpenCheckpoint(envelope, SIZE_MAX).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << why;
    EXPECT_NE(std::string(status.message()).find(why), std::string::npos) << status;
  };
  refused(EnvelopeOf(text, 4999, 0), "stored and payload length differ");
  refused(EnvelopeOf(text, 5001, 0), "stored and payload length differ");
  refused(EnvelopeOf(frame, 4999, 1), "longer than declared");
  refused(EnvelopeOf(frame, 5001, 1), "shorter than declared");
  refused(EnvelopeOf(frame, uint64_t{1} << 62, 1),
          "shorter than declared");  // and no buffer of that size is allocated
  refused(EnvelopeOf(frame + "x", 5000, 1), "damaged checkpoint");
  refused(EnvelopeOf(frame.substr(0, frame.size() - 1), 5000, 1), "truncated zstd data");
  refused(EnvelopeOf("", 5000, 1), "truncated zstd data");
  refused(EnvelopeOf(text, 5000, 1), "zstd");
  refused(EnvelopeOf(text, 5000, 2), "version 1, flags 2");
  refused(EnvelopeOf(text, 5000, 0, 0), "version 0, flags 0");
}

}  // namespace
}  // namespace taut
