// Writes job stories: the packed heatmap, the limits as steps, and the reasons.
#include "tools/report/story_json.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "common/base/byte_units.h"
#include "common/base/printable.h"
#include "tools/report/report_json.h"

namespace taut::tools {
namespace {

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
constexpr size_t kShareLevels = 63;
constexpr size_t kLongestRun = 63;

double InReportUnit(Resource r, double amount) { return amount / UnitOf(r).large; }

char Level(double share) {
  if (!(share > 0)) return kDigits[0];
  // The levels span three decades: level 1 is 0.1 %, and level 63 is 100 %.
  const double level = 1 + (kShareLevels - 1) * (1 + std::log10(std::min(share, 1.0)) / 3);
  return kDigits[static_cast<size_t>(std::clamp(std::lround(level), 1L, long{kShareLevels}))];
}

std::string PackColumn(const std::map<Bucket, double>& weights) {
  double total = 0;
  for (const auto& [bucket, weight] : weights) total += weight;
  if (!(total > 0)) return "";
  const Bucket first = weights.begin()->first;
  std::string packed = {kDigits[first / 64 % 64], kDigits[first % 64]};
  size_t next = first;
  for (const auto& [bucket, weight] : weights) {
    for (size_t gap = bucket - next; gap > 0;) {
      const size_t run = std::min(gap, kLongestRun);
      if (run == 1) {
        packed += kDigits[0];
      } else {
        packed += '.';
        packed += kDigits[run];
      }
      gap -= run;
    }
    packed += Level(weight / total);
    next = size_t{bucket} + 1;
  }
  return packed;
}

// Writes the heatmap. A drawn column is the sum of `merge` columns of the story.
void WriteHeatmap(const JobStory& story, JsonWriter* json) {
  const size_t merge = std::max<size_t>(1, (story.columns.size() + kMaxStoryColumns - 1) / kMaxStoryColumns);
  std::vector<double> peaks;
  json->Field("dt", story.column_s * static_cast<int64_t>(merge));
  json->Key("heat");
  json->BeginArray();
  for (size_t i = 0; i < story.columns.size(); i += merge) {
    std::map<Bucket, double> weights;
    double peak = 0;
    for (size_t j = i; j < std::min(i + merge, story.columns.size()); ++j) {
      for (const BucketWeight& b : story.columns[j].buckets) {
        if (b.weight > 0) weights[b.bucket] += static_cast<double>(b.weight);
      }
      peak = std::max(peak, static_cast<double>(story.columns[j].peak));
    }
    json->String(PackColumn(weights));
    peaks.push_back(weights.empty() ? std::nan("") : InReportUnit(story.resource, peak));
  }
  json->EndArray();
  json->Key("peak");
  json->BeginArray();
  for (const double peak : peaks) json->Number(peak, 4);
  json->EndArray();
}

// Encodes times as window numbers, and each window number as the difference from the previous one.
class WindowDeltas {
 public:
  int64_t Next(int64_t at_s) {
    const int64_t window = FloorDiv(at_s, kWindowSeconds);
    const int64_t delta = window - last_;
    last_ = window;
    return delta;
  }

 private:
  int64_t last_ = 0;
};

void WriteLimits(const JobStory& story, JsonWriter* json) {
  json->Key("lines");
  json->BeginArray();
  for (const JobStory::LimitLine& line : story.limits) {
    json->BeginObject();
    json->Field("policy", Name(line.policy));
    json->Key("t");
    json->BeginArray();
    WindowDeltas deltas;
    for (const JobStory::LimitStep& step : line.steps) json->Int(deltas.Next(step.from_s));
    json->EndArray();
    json->Key("v");
    json->BeginArray();
    for (const JobStory::LimitStep& step : line.steps) {
      json->Number(step.limit ? InReportUnit(story.resource, *step.limit) : std::nan(""), 4);
    }
    json->EndArray();
    json->Key("ooms");
    json->BeginArray();
    WindowDeltas oom_deltas;
    for (const JobStory::OomMark& oom : story.ooms) {
      if (oom.policy == line.policy) json->Int(oom_deltas.Next(oom.at_s));
    }
    json->EndArray();
    json->EndObject();
  }
  json->EndArray();
}

void WriteFact(const Fact& fact, JsonWriter* json) {
  json->BeginObject();
  json->Field("name", fact.name);
  json->Key("value");
  if (const double* number = std::get_if<double>(&fact.value)) {
    json->Number(*number);
  } else {
    json->String(std::get<std::string>(fact.value));
  }
  json->Field("unit", fact.unit);
  json->EndObject();
}

void WriteReason(const Reason& reason, JsonWriter* json) {
  json->BeginObject();
  json->Field("recommender", reason.recommender);
  json->Field("sentence", reason.sentence);
  json->Field("cost_unit", reason.cost_unit);
  json->Key("facts");
  json->BeginArray();
  for (const Fact& fact : reason.facts) WriteFact(fact, json);
  json->EndArray();
  json->Key("candidates");
  json->BeginArray();
  for (const Candidate& c : reason.candidates) {
    json->BeginObject();
    json->Field("name", c.name);
    json->Field("limit", c.limit);
    json->Field("cost", c.cost);
    json->Field("detail", c.detail);
    json->Field("chosen", c.chosen);
    json->EndObject();
  }
  json->EndArray();
  json->Key("steps");
  json->BeginArray();
  for (const ReasonStep& step : reason.steps) {
    json->BeginObject();
    json->Field("what", step.what);
    json->Field("before", step.before);
    json->Field("after", step.after);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

}  // namespace

void WriteStory(const JobStory& story, JsonWriter* json) {
  json->BeginObject();
  json->Field("job",
              // Escape the name like the name in the list of jobs, because the page compares the two.
              Printable(story.job));
  json->Field("resource", Name(story.resource));
  json->Field("why", story.why_chosen);
  json->Field("t0", story.start_s);
  WriteHeatmap(story, json);
  WriteLimits(story, json);
  json->Key("reasons");
  json->BeginArray();
  for (const Reason& reason : story.reasons) WriteReason(reason, json);
  json->EndArray();
  json->EndObject();
}

}  // namespace taut::tools
