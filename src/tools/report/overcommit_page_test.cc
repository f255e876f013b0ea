#include "tools/report/overcommit_page.h"

#include "common/base/byte_units.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Machines with 100 GiB of limits and a peak of 40; `of_limit` is predicted `times` times, and below the peak on
// the first `below` machines.
void AddRow(OvercommitResult& result, std::string name, double of_limit, size_t below) {
  OvercommitResult::Row& row = result.rows.emplace_back();
  row.predictor = std::move(name);
  row.by_placement.resize(2);
  row.by_machine.resize(result.machines);
  for (size_t m = 0; m < result.machines; ++m) {
    for (size_t i = 0; i < 10; ++i) {
      const bool is_below = m < below && i <= m;
      for (OvercommitScore* s : {&row.total, &row.by_placement[2 * m / result.machines], &row.by_machine[m]})
        s->Add(100 * kGiB, is_below ? 30 * kGiB : of_limit * 100 * kGiB, 40 * kGiB);
    }
  }
}

OvercommitResult Made(size_t machines) {
  OvercommitResult result;
  result.resource = Resource::kMemory;
  result.tasks = machines;
  result.machines = machines;
  return result;
}

TEST(OvercommitPageTest, HasThePredictorsWithUnitsAndTheMachinesWithMostFirst) {
  OvercommitResult result = Made(8);
  AddRow(result, "limit", 1, 0);
  AddRow(result, "n-sigma:n=<3>", 0.5, 4);
  AddRow(result, "oracle", 0.4, 0);
  const OvercommitPage page{"<b>trace</b>", "every 2 h\nPARTIAL\n", {"memory: 8 tasks\n"}};
  const std::string html = Render(page, {&result, 1});
  EXPECT_THAT(html, HasSubstr("&lt;b&gt;trace"));
  EXPECT_THAT(html, Not(HasSubstr("<b>trace")));
  EXPECT_THAT(html, HasSubstr("<p class=muted>PARTIAL</p>"));
  EXPECT_THAT(html, HasSubstr("<h2>Memory</h2><p class=muted>memory: 8 tasks</p>"));
  EXPECT_THAT(html, HasSubstr("GiB a machine"));
  // 10 of 80 predictions are 30 GiB, a quarter below the peak of 40; the others 50 GiB.
  EXPECT_THAT(html, HasSubstr("<td>n-sigma:n=&lt;3&gt;</td><td>47.5 %</td><td>12.50 %</td><td>25.0 %</td>"
                              "<td>52.5 %</td><td>47.5</td><td>4 of 8</td><td>80</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<td>limit</td><td>100.0 %</td><td>0.00 %</td><td>-</td>"));
  // Four machines a placement; machine 3 is below 4 times, machine 2 3 times. Only n-sigma was ever below.
  EXPECT_THAT(html, HasSubstr("<th>predictions of each</th><th>n-sigma:n=&lt;3&gt;</th></tr>"
                              "<tr><td>machine 3 of placement 0</td><td>10</td><td>40.0 %</td></tr>"
                              "<tr><td>machine 2 of placement 0</td><td>10</td><td>30.0 %</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<title>n-sigma:n=&lt;3&gt;: 47.5, 12.5</title>"));
  EXPECT_THAT(html, HasSubstr("<title>oracle: 40, 0</title>"));
  EXPECT_THAT(html, Not(HasSubstr("% of capacity"))) << "made machines have none";
  EXPECT_THAT(html, Not(HasSubstr("nan")));
  EXPECT_THAT(html, Not(HasSubstr("http"))) << "nothing from elsewhere";
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

TEST(OvercommitPageTest, OfManyMachinesTwenty) {
  OvercommitResult result = Made(60);
  AddRow(result, "rc-like", 0.5, 50);
  const std::string html = Render({"t", ""}, {&result, 1});
  EXPECT_THAT(html, HasSubstr("The 20 machines of 50 with any"));
  size_t rows = 0;
  for (size_t at = html.find("<tr><td>machine "); at != std::string::npos;
       at = html.find("<tr><td>machine ", at + 1))
    ++rows;
  EXPECT_EQ(rows, 20u);
  EXPECT_THAT(html, HasSubstr("<title>oracle: 40, 0</title>")) << "from the scores, without its own row";
}

TEST(OvercommitPageTest, RecordedMachinesHaveTheirNamesAndCapacity) {
  OvercommitResult result = Made(2);
  AddRow(result, "machine-max", 0.5, 1);
  result.of_recorded = true;
  result.recorded.machines = {"<m0>", "m1"};
  result.recorded.capacity = 10;
  result.rows[0].total.capacity = 200;
  result.rows[0].total.predicted_of_capacity = 50;
  const std::string html = Render({"t", ""}, {&result, 1});
  EXPECT_THAT(html, HasSubstr("<tr><td>&lt;m0&gt;</td><td>10</td><td>10.0 %</td></tr>"));
  EXPECT_THAT(html, HasSubstr("<th>% of capacity</th>"));
  EXPECT_THAT(html, HasSubstr("<td>25.0 %</td></tr></table><p class=muted>% of capacity: sum"));
}

TEST(OvercommitPageTest, NothingIsNotZero) {
  OvercommitResult result = Made(2);
  AddRow(result, "limit", 1, 0);
  EXPECT_THAT(Render({"t", ""}, {&result, 1}),
              HasSubstr("No prediction was below the oracle on any machine."));
  OvercommitResult partial = Made(2);
  OvercommitResult::Row& row = partial.rows.emplace_back();
  row.predictor = "limit";
  row.by_placement.resize(1);
  row.by_machine.resize(2);
  const std::string html = Render({"t", ""}, {&partial, 1});
  EXPECT_THAT(
      html,
      HasSubstr("<td>limit</td><td>-</td><td>-</td><td>-</td><td>-</td><td>-</td><td>-</td><td>0</td>"));
  EXPECT_THAT(html, HasSubstr("There are no predictions with a peak to compare."));
  EXPECT_THAT(html, Not(HasSubstr("<svg"))) << "there is nothing to draw";
  EXPECT_THAT(Render({"t", ""}, {}), HasSubstr("<h1>t</h1>"));
}

}  // namespace
}  // namespace taut::tools
