#include "tools/report/replicas_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/report/document_fixture.h"

namespace taut::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ReplicaStep Step(int64_t time_s, std::optional<double> load, int ready, int starting = 0) {
  ReplicaStep step;
  step.time_s = time_s;
  step.load = load;
  step.ready = ready;
  step.starting = starting;
  return step;
}

TEST(ReplicaTrack, KeepsSpikesAndTheLowestCapacity) {
  ReplicaTrack track(1000, 1000 + 480 * 60, 2.0);  // one column per minute
  for (int64_t t = 1000; t < 1060; ++t) track.Add(Step(t, t == 1030 ? 9 : 1, t == 1031 ? 2 : 4, 1));
  const ReplicaTrack::Column& c = track.columns()[0];
  EXPECT_EQ(c.load, 9);
  EXPECT_EQ(c.capacity, 4);
  EXPECT_NEAR(c.tasks, (59 * 5 + 3) / 60.0, 1e-9);
  EXPECT_EQ(c.steps, 60U);
  EXPECT_EQ(track.columns()[1].steps, 0U);
  EXPECT_EQ(track.time_s(0), 1030);
  track.Add(Step(999, 100, 1));
  track.Add(Step(1000 + 480 * 60, 100, 1));
  EXPECT_EQ(track.columns()[0].load, 9) << "other times are left out";
  ReplicaTrack silent(0, 480, 1);
  silent.Add(Step(3, std::nullopt, 2));
  EXPECT_FALSE(silent.columns()[3].load.has_value());
}

TEST(ReplicasPage, HasTheTableTheLargestJobsAndEscapedNames) {
  ReplicasPage page;
  page.title = "Replicas of <b>";
  page.conditions = "a & b\nc";
  page.policies = {"hpa", "forecast"};
  ReplicaScore score;
  score.steps = 100;
  score.overloaded_steps = 5;
  score.task_s = 7200;
  score.clairvoyant_task_s = 3600;
  page.totals = {score, score};
  page.jobs = 20;
  for (int j = 0; j < 20; ++j) {
    ReplicasPageJob job;
    job.name = "job<" + std::to_string(j);
    job.scores = {score, score};
    job.scores[0].clairvoyant_task_s = (j * 7) % 20 + 1.0;
    for (int p = 0; p < 2; ++p) {
      job.tracks.emplace_back(0, 4800, 1.0);
      for (int t = 0; t < 4800; t += 10) job.tracks.back().Add(Step(t, t % 100, 50));
    }
    page.Add(std::move(job));
  }
  ASSERT_EQ(page.largest.size(), ReplicasPage::kJobs);
  EXPECT_EQ(page.largest[0].scores[0].clairvoyant_task_s, 20);
  EXPECT_EQ(page.largest[7].scores[0].clairvoyant_task_s, 13);
  const Json json = Parsed(ReplicasDocument(page));
  EXPECT_EQ(json["title"], "Replicas of <b>");
  EXPECT_EQ(json["notes"], Json({"a & b", "c"}));
  EXPECT_EQ(AnswerText(json),
            "hpa has the least overloaded time: 0.05, with 2 the task-time that the load needs.");
  ASSERT_EQ(json["sections"].size(), 9U);
  EXPECT_EQ(json["sections"][0]["title"], "All 20 jobs");
  EXPECT_EQ(json["sections"][1]["title"], "job<17");
  const Json all = PartsOf(json, "All 20 jobs", "table").at(0);
  EXPECT_EQ(all["rows"][0][1], 2);
  EXPECT_EQ(all["rows"][0][2], 2) << "task-hours";
  EXPECT_EQ(all["rows"][0][3], 0.05);
  EXPECT_THAT(std::string(PartsOf(json, "All 20 jobs", "text").at(1)["text"]),
              HasSubstr("the 8 largest of 20 jobs"));
  const std::vector<Json> charts = PartsOf(json, "job<17", "chart");
  ASSERT_EQ(charts.size(), 3U) << "the tasks, and the load under each policy";
  EXPECT_THAT(NamesOf(charts[0]["series"]), ElementsAre("hpa", "forecast"));
  EXPECT_THAT(NamesOf(charts[1]["series"]),
              ElementsAre("load", "load above the capacity", "capacity of the ready tasks"));
  // A column covers ten seconds. Load above the capacity is a separate series, stacked on the served load.
  EXPECT_EQ(charts[1]["series"][0]["y"][9], 50);
  EXPECT_EQ(charts[1]["series"][1]["y"][9], 40);
}

}  // namespace
}  // namespace taut::tools
