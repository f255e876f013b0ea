// Tests of the checks of priced jobs in a stored fleet model.
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "brain/recommend/analogs.h"
#include "common/base/random.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

constexpr double kWeekPeak = 1234567;  // bytes of a peak, unusual enough to be found in the saved state

// Byte offsets of a job's stored fields, relative to its stored AnalogCase::week_peak.
enum class JobField : int {
  kSize = -6,
  kBin = -5,
  kWeight = -4,
  kPeak = 0,
  kFloor = 8,
  kKept = 16,
  kOwner = 24,
  kTasks = 32,
  kFactor = 40,
  kEnd = 48
};

class StoredAnalogs {
 public:
  StoredAnalogs() {
    AnalogSettings settings;
    settings.min_rows = 1;
    settings.min_days = 1;
    AnalogFleet fleet(Resource::kMemory, settings);
    FleetRow row;
    row.lesson = FleetLesson{};
    row.tomorrow.own.size = 1;
    row.tomorrow.own.weight[0] = 0.5F;
    row.tomorrow.week_peak = kWeekPeak;
    fleet.CloseDay(0, {row});
    ByteWriter out(&bytes_);
    fleet.Save(out);
    // The last occurrence is the week_peak of the priced job; an earlier occurrence may be the mean limit.
    at_ = bytes_.rfind(PeakBytes());
  }
  bool has_job() const { return at_ != std::string::npos; }
  template <typename T>
  absl::StatusCode With(JobField field, T value) const {
    std::string changed = bytes_;
    std::memcpy(changed.data() + (at_ + static_cast<size_t>(field)), &value, sizeof(value));
    return Load(changed);
  }
  // Loads the state of an older version, without the fields that the version did not have. Version 1 has no
  // tasks and no price factor of a job, version 2 no price factor. In versions 1 to 3, the state of a random
  // number generator precedes the rows of history, and the rows (here one row) have no keys.
  absl::StatusCode OfVersion(uint8_t version) const {
    std::string older = bytes_;
    older[0] = static_cast<char>(version);
    if (version < 4) {
      older.erase(kKeyAt, sizeof(uint64_t));
      std::string numbers;
      ByteWriter out(&numbers);
      Rng(1).Save(out);
      older.insert(kHistoryAt, numbers);
    }
    const auto from = static_cast<size_t>(version < 2 ? JobField::kTasks : JobField::kFactor);
    const size_t at = older.rfind(PeakBytes());
    if (version < 3) older.erase(at + from, static_cast<size_t>(JobField::kEnd) - from);
    return Load(older);
  }

 private:
  static constexpr size_t kHistoryAt = 2,
                          kKeyAt = 3;  // offsets of the number of rows, and of the first row's key
  static std::string PeakBytes() {
    std::string peak(sizeof(kWeekPeak), '\0');
    std::memcpy(peak.data(), &kWeekPeak, sizeof(kWeekPeak));
    return peak;
  }
  static absl::StatusCode Load(const std::string& bytes) {
    AnalogFleet fleet(Resource::kMemory, AnalogSettings());
    ByteReader in(bytes);
    const absl::Status s = fleet.Load(in);
    EXPECT_TRUE(!s.ok() || (in.remaining() == 0 && fleet.ready()));
    return s.code();
  }

  std::string bytes_;
  size_t at_ = 0;
};

TEST(AnalogFleetState, RefusesEachFigureOfAJobThatCannotBe) {
  using enum JobField;
  constexpr auto kDamaged = absl::StatusCode::kDataLoss;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN(), kInfinite = HUGE_VAL;
  const StoredAnalogs stored;
  ASSERT_TRUE(stored.has_job());
  constexpr auto kBins = static_cast<uint8_t>(AnalogGrid::kBins);
  EXPECT_EQ(stored.With(kSize, uint8_t{1}), absl::StatusCode::kOk) << "as it was";
  EXPECT_EQ(stored.With(kSize, static_cast<uint8_t>(OwnHistory::kMax + 1)), kDamaged);
  EXPECT_EQ(stored.With(kBin, static_cast<uint8_t>(kBins - 1)), absl::StatusCode::kOk);
  EXPECT_EQ(stored.With(kBin, kBins), kDamaged);
  EXPECT_EQ(stored.With(kWeight, 0.0F), absl::StatusCode::kOk);
  EXPECT_EQ(stored.With(kWeight, -1.0F), kDamaged);
  for (const JobField at : {kPeak, kFloor, kKept, kOwner, kTasks, kFactor}) {
    EXPECT_EQ(stored.With(at, 1.0), absl::StatusCode::kOk) << static_cast<int>(at);
    EXPECT_EQ(stored.With(at, 0.0) == kDamaged, at == kTasks || at == kFactor) << static_cast<int>(at);
    EXPECT_EQ(stored.With(at, -1.0) == kDamaged, at != kKept && at != kOwner) << static_cast<int>(at);
    for (const double bad : {kNan, kInfinite, -kInfinite})
      EXPECT_EQ(stored.With(at, bad), kDamaged) << static_cast<int>(at);
  }
}

TEST(AnalogFleetState, ReadsThoseOfEarlierVersions) {
  const StoredAnalogs stored;
  for (const uint8_t version : {1, 2, 3, 4})
    EXPECT_EQ(stored.OfVersion(version), absl::StatusCode::kOk) << int{version};
  for (const uint8_t version : {0, 5})
    EXPECT_EQ(stored.OfVersion(version), absl::StatusCode::kInvalidArgument) << int{version};
}

}  // namespace
}  // namespace taut::brain
