// When a limit comes into force: a decision made with window w rules from w + 1 on.
#include "engine/lane.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut {
namespace {

using ::testing::ElementsAre;

// Writes down what it is told and answers with the number of the window asked for.
class Scribe final : public Recommender {
 public:
  Scribe(std::vector<std::string>* log, bool answers) : log_(log), answers_(answers) {}
  void Observe(const Signal& s) override { Note("observe", s.window.index); }
  void ObserveOom(const OomEvent& e) override { Note("oom", e.window.index); }
  std::optional<double> Recommend(WindowId next) override {
    Note("recommend", next.index);
    return answers_ ? std::optional<double>(next.index) : std::nullopt;
  }
  void StartDay(int32_t day) override { Note("start", day); }
  void EndDay(int32_t day, FleetRows&) override { Note("end", day); }
  void Explain(Reason&) const override {}
  std::unique_ptr<Recommender> Clone() const override { return std::make_unique<Scribe>(*this); }
  size_t state_bytes() const override { return sizeof(*this); }
  void Save(ByteWriter&) const override {}
  absl::Status Load(ByteReader&) override { return absl::OkStatus(); }

 private:
  void Note(const char* what, int32_t n) { log_->push_back(std::string(what) + " " + std::to_string(n)); }
  std::vector<std::string>* log_;
  bool answers_;
};

Signal At(int32_t window) {
  return {.window = WindowId{window}, .buckets = {}, .tasks = {}, .owner_limit = {}};
}

TEST(Lane, ADecisionRulesFromTheNextWindow) {
  std::vector<std::string> log;
  Lane lane(std::make_unique<Scribe>(&log, true));
  EXPECT_FALSE(lane.LimitInForce(std::nullopt).has_value())
      << "no owner's limit and nothing recommended: unlimited";
  EXPECT_EQ(lane.LimitInForce(7), 7);
  lane.StartDay(2);
  EXPECT_EQ(lane.LimitInForce(7), 2 * kWindowsPerDay);
  lane.CloseWindow(At(580));
  EXPECT_EQ(lane.LimitInForce(7), 581);
  lane.Oom({WindowId{580}, 0, 1});
  EXPECT_EQ(lane.LimitInForce(7), 581);
  FleetRows rows;
  lane.EndDay(2, rows);
  EXPECT_THAT(log, ElementsAre("start 2", "recommend 576", "observe 580", "recommend 581", "oom 580",
                               "recommend 581", "end 2"));
}

TEST(Lane, ACappedOneIsNeverAboveTheOwners) {
  std::vector<std::string> log;
  Lane lane(std::make_unique<Scribe>(&log, true), /*cap_at_owner=*/true);
  lane.StartDay(0);
  lane.CloseWindow(At(9));
  EXPECT_EQ(lane.LimitInForce(7), 7);
  EXPECT_EQ(lane.LimitInForce(12), 10);
  EXPECT_EQ(lane.LimitInForce(std::nullopt), 10) << "no owner's limit, nothing to cap at";
}

TEST(Lane, TheOwnersLimitStaysWhileNothingIsRecommended) {
  std::vector<std::string> log;
  Lane lane(std::make_unique<Scribe>(&log, false));
  lane.StartDay(0);
  lane.CloseWindow(At(0));
  EXPECT_EQ(lane.LimitInForce(7), 7);
  EXPECT_FALSE(lane.LimitInForce(std::nullopt).has_value());
}

}  // namespace
}  // namespace taut
