#include "common/settings/setting_row.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace taut {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

enum class Colour : uint8_t { kRed, kBlue };
constexpr EnumName<Colour> kColours[] = {{Colour::kRed, "red"}, {Colour::kBlue, "blue"}};

struct House {
  int days = 2, sample_ms = 50;
  double cores = 0.5, bytes = 1 << 20, micros = 70;
  std::optional<double> upper;
  std::vector<double> half_lives_s = {3600};
  std::vector<std::string> names;
  bool open = false;
  std::string url;
  std::chrono::milliseconds wait{1500};
  Colour colour = Colour::kRed;
  std::vector<Colour> colours = {Colour::kBlue};
};

constexpr double kDay = 86'400;
using enum FieldUnit;
#define TAUT_REF(name) +[](House& h) -> FieldRef { return &h.name; }
constexpr SettingRow<House> kRows[] = {
    {"history", "", kDuration, kDay, 100 * kDay, TAUT_REF(days), Was("history_days", kDay, kDay)},
    {"sample", "", kDuration, 0.01, 60, TAUT_REF(sample_ms), Was("sample_ms", 1e-3, 1e-3)},
    {"cores", "", kPlain, 0, 1, TAUT_REF(cores), Was("cores_of_house")},
    {"memory", "", kBytes, 0, 1e12, TAUT_REF(bytes), Was("memory_mib", 1 << 20)},
    {"target", "", kDuration, 0, 1, TAUT_REF(micros), Was("target_us", 1e-6, 1e-6)},
    {"upper", "", kBytes, 0, 1e12, TAUT_REF(upper), Reloads(Was("upper_mib", 1 << 20))},
    {"half_lives", "", kDuration, 60, 1e6, TAUT_REF(half_lives_s), Was("half_lives_h", 3600)},
    {"names", "", kPlain, 0, 0, TAUT_REF(names)},
    {"open", "", kPlain, 0, 0, TAUT_REF(open)},
    {"url", "", kUrl, 0, 0, TAUT_REF(url)},
    {"wait", "", kDuration, 0, 3600, TAUT_REF(wait)},
    {"colour", "", kPlain, 0, 0, +[](House& h) { return ChoiceOf<kColours>(&h.colour); }},
    {"colours", "", kPlain, 0, 0, +[](House& h) { return ChoicesOf<kColours>(&h.colours); }},
};
#undef TAUT_REF
constexpr std::span<const SettingRow<House>> kTable = kRows;

absl::Status Set(House& house, std::string_view key, std::string_view text,
                 SettingNotices* notices = nullptr) {
  return SetSetting(*FindSetting(kTable, key), key, text, house, notices);
}
std::string Get(const House& house, std::string_view key) {
  return GetSetting(*FindSetting(kTable, key), house);
}
std::string Error(std::string_view key, std::string_view text) {
  House house;
  return std::string(Message(Set(house, key, text)));
}

TEST(SettingRow, ReadsAndShowsEachUnit) {
  House house;
  for (const auto& [key, text, shown] :
       std::vector<std::tuple<std::string_view, std::string_view, std::string_view>>{
           {"history", "48h", "2d"},
           {"history", " 3w ", "3w"},
           {"sample", "70ms", "70ms"},
           {"sample", "1s", "1s"},
           {"target", "30000us", "30ms"},
           {"target", "7us", "7us"},
           {"cores", "3%", "0.03"},
           {"cores", "0.25", "0.25"},
           {"memory", "1.5GiB", "1536MiB"},
           {"memory", "1234567", "1234567B"},
           {"upper", "16MiB", "16MiB"},
           {"upper", "none", "none"},
           {"half_lives", "[1h, 90m]", "[1h, 90m]"},
           {"half_lives", "2h,1d", "[2h, 1d]"},
           {"names", "[a, b]", "[a, b]"},
           {"open", "yes", "true"},
           {"url", "http://prometheus:9090", "http://prometheus:9090"},
           {"wait", "2.5s", "2500ms"},
           {"colour", "blue", "blue"},
           {"colours", "[red, blue]", "[red, blue]"},
           {"colours", "red", "red"}}) {
    const absl::Status s = Set(house, key, text);
    EXPECT_TRUE(s.ok()) << s;
    EXPECT_EQ(Get(house, key), shown) << key;
    House again;
    ASSERT_TRUE(Set(again, key, shown).ok()) << key;
    EXPECT_EQ(Get(again, key), shown) << key;
  }
  EXPECT_EQ(house.days, 21);
  EXPECT_EQ(house.wait, std::chrono::milliseconds(2500));
}

TEST(SettingRow, SaysWhatIsWrong) {
  EXPECT_EQ(Error("history", "36h"), "history: \"36h\" is not a multiple of 1d");
  EXPECT_EQ(Error("history", "12h"), "history: 12h is outside 1d .. 100d");
  EXPECT_EQ(Error("history", "5"), "history: \"5\" is a duration without a unit; write 5s, 5m, 5h or 5d");
  EXPECT_EQ(Error("cores", "300%"), "cores: 300% is outside 0 .. 1; expected a share such as 0.05 or 5%");
  EXPECT_EQ(Error("cores", "much"), "cores: \"much\" is not a number");
  EXPECT_EQ(Error("colour", "green"), "colour: \"green\": expected one of red, blue");
  EXPECT_EQ(Error("colours", "[]"), "colours: must have at least one value");
  EXPECT_EQ(Error("url", "prometheus"), "url: \"prometheus\" is not a URL; expected http://prometheus:9090");
  EXPECT_EQ(Error("history_days", "1000"), "history: 1000d is outside 1d .. 100d") << "the key as it is now";
  House house;
  const std::vector<std::string> two = {"1", "2"};
  EXPECT_EQ(Message(SetSetting(kRows[2], "cores", std::span<const std::string>(two), house)),
            "cores: must be one value, not a list");
}

// Earlier versions wrote numbers without a unit; texts have no unit.
TEST(SettingRow, ReadsOldKeysWithANotice) {
  House house;
  SettingNotices notices;
  ASSERT_TRUE(Set(house, "history_days", "14", &notices).ok());
  ASSERT_TRUE(Set(house, "sample_ms", "250", &notices).ok());
  ASSERT_TRUE(Set(house, "memory_mib", "0.5", &notices).ok());
  ASSERT_TRUE(Set(house, "target_us", "30000", &notices).ok());
  ASSERT_TRUE(Set(house, "upper_mib", "none", &notices).ok());
  ASSERT_TRUE(Set(house, "half_lives_h", "[1, 0.5]", &notices).ok());
  ASSERT_TRUE(Set(house, "cores_of_house", "0.75", &notices).ok());
  EXPECT_EQ(house.days, 14);
  EXPECT_EQ(house.sample_ms, 250);
  EXPECT_EQ(house.bytes, 524'288);
  EXPECT_EQ(house.micros, 30'000);
  EXPECT_EQ(house.cores, 0.75);
  EXPECT_THAT(house.half_lives_s, ElementsAre(3600, 1800));
  EXPECT_THAT(notices, ElementsAre("history_days is now history; write history: 2w",
                                   "sample_ms is now sample; write sample: 250ms",
                                   "memory_mib is now memory; write memory: 512KiB",
                                   "target_us is now target; write target: 30ms",
                                   "upper_mib is now upper; write upper: none",
                                   "half_lives_h is now half_lives; write half_lives: [1h, 30m]",
                                   "cores_of_house is now cores; write cores: 0.75"));
  notices.clear();
  ASSERT_TRUE(Set(house, "history", "1d", &notices).ok());
  EXPECT_THAT(notices, IsEmpty());
  EXPECT_EQ(FindSetting(kTable, "history_hours"), nullptr);
}

TEST(SettingRow, CopiesAValueAndKnowsWhichReload) {
  House from, to;
  from.days = 7;
  kRows[0].field(from).CopyTo(kRows[0].field(to));
  EXPECT_EQ(to.days, 7);
  EXPECT_FALSE(kRows[0].extras.reloads);
  EXPECT_TRUE(kRows[5].extras.reloads);
}

}  // namespace
}  // namespace taut
