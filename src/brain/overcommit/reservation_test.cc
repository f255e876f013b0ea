#include "brain/overcommit/reservation.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <string>

namespace taut::brain {
namespace {

using Figures = Reservation::Figures;

TEST(Reservation, IsTheLimitForTheFirstWindow) {
  Reservation r;
  EXPECT_EQ(r.Step({10}, {.usage = 1, .asked = 4, .cap = 4}, {}), 4);
  // Usage plus margin is 1.15. The excess of 2.85 halves in an hour.
  EXPECT_NEAR(*r.Step({11}, {.usage = 1, .asked = 4, .cap = 4}, {}), 1.15 + 2.85 * std::exp2(-1 / 12.0),
              1e-12);
  for (int32_t w = 12; w <= 22; ++w) r.Step({w}, {.usage = 1, .asked = 4, .cap = 4}, {});
  EXPECT_NEAR(*r.value(), 1.15 + 2.85 / 2, 1e-12);
}

TEST(Reservation, RisesAtOnceAndNotAboveTheCap) {
  Reservation r;
  r.Step({0}, {.usage = 1, .asked = 4, .cap = 4}, {});
  for (int32_t w = 1; w < 100; ++w) r.Step({w}, {.usage = 1, .asked = 4, .cap = 4}, {});
  EXPECT_NEAR(*r.value(), 1.15, 0.02);
  EXPECT_DOUBLE_EQ(*r.Step({100}, {.usage = 2, .asked = 4, .cap = 4}, {}), 2.3);
  EXPECT_DOUBLE_EQ(*r.Step({101}, {.usage = 4, .asked = 4, .cap = 4}, {}), 4);
  EXPECT_DOUBLE_EQ(*r.Step({102}, {.usage = {}, .asked = 3, .cap = 3}, {}), 3) << "the limit was lowered";
}

TEST(Reservation, StaysWhereNothingIsMeasured) {
  Reservation r;
  r.Step({0}, {.usage = 1, .asked = 4, .cap = 4}, {});
  const double before = *r.Step({1}, {.usage = 1, .asked = 4, .cap = 4}, {});
  EXPECT_EQ(r.Step({2}, {.usage = {}, .asked = 4, .cap = 4}, {}), before);
}

TEST(Reservation, WithoutALimitIsUsageAndMargin) {
  Reservation r;
  EXPECT_EQ(r.Step({0}, {}, {}), std::nullopt) << "absent, and not 0";
  EXPECT_DOUBLE_EQ(*r.Step({1}, {.usage = 2, .asked = {}, .cap = {}}, {}), 2.3);
  // Without a cap, the reservation may exceed the request.
  Reservation request;
  EXPECT_DOUBLE_EQ(*request.Step({0}, {.usage = 2, .asked = 1, .cap = {}}, {}), 2.3);
}

RC_GTEST_PROP(Reservation, IsBetweenUsageAndLimitAndSurvivesARestart, ()) {
  Reservation r;
  int32_t window = 0;
  for (int i = 0; i < 30; ++i) {
    window += *rc::gen::inRange(1, 4);
    const double limit = *rc::gen::inRange(1, 100);
    std::optional<double> usage;
    if (*rc::gen::arbitrary<bool>()) usage = limit * *rc::gen::inRange(0, 101) / 100;
    const double value = *r.Step({window}, {.usage = usage, .asked = limit, .cap = limit}, {});
    RC_ASSERT(value <= limit);
    if (usage.has_value()) RC_ASSERT(value >= std::min(limit, *usage * 1.15) - 1e-9);
    std::string bytes;
    ByteWriter out(&bytes);
    r.Save(out);
    ByteReader in(bytes);
    const absl::StatusOr<Reservation> loaded = Reservation::Load(in);
    RC_ASSERT(loaded.ok());
    RC_ASSERT(loaded->value() == r.value());
    r = *loaded;
  }
}

}  // namespace
}  // namespace taut::brain
