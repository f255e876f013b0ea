#include "server/control/control_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/control/control_fixture.h"

namespace taut::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(ControlMetrics, LagIsAbsentUntilThereIsASample) {
  InMemoryStore store(Retention{});
  DryRunActuator actuator;
  ControlPlane control(ControlOptions(), *MappingRules::Compile(BuiltinRules()),
                       {&store, &store, &actuator, [] { return 0.0; }});
  ASSERT_TRUE(control.Restore().ok());
  DaemonContext context{.control = &control};
  const ControlMetrics metrics_of(0, context);
  const auto metrics = [&metrics_of] {
    MetricsText out;
    metrics_of.Collect(out);
    return out.Take();
  };
  EXPECT_THAT(metrics(), AllOf(Not(HasSubstr("lag_seconds")), Not(HasSubstr("age_seconds"))));
  constexpr int64_t kStart = 1'700'006'400;
  ReportedWindow window;
  window.window = WindowId::Of(Timestamp::FromSeconds(kStart));
  window.figures.memory_mean_bytes = window.figures.memory_peak_bytes = 1e8F;
  const Timestamp end = Timestamp::FromSeconds(kStart + kWindowSeconds);
  ASSERT_TRUE(control.agents().TakeWindow({"web", "t", {}}, window, end).ok());
  ASSERT_TRUE(control.Tick(Timestamp::FromSeconds(kStart + kWindowSeconds + 130)).ok());
  EXPECT_THAT(metrics(), AllOf(HasSubstr("tautd_newest_sample_age_seconds 130"),
                               HasSubstr("tautd_last_window_age_seconds 130\n"),
                               Not(HasSubstr("tautd_ingest_lag_seconds"))))
      << "an agent's window is no sample of a series";
}

}  // namespace
}  // namespace taut::server
