#include "tools/cli/fetch_command.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include "absl/time/clock.h"
#include "common/base/name_template.h"
#include "common/base/strings.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "server/config/daemon_config.h"
#include "server/ingest/ingest.h"
#include "server/ingest/prometheus_history.h"
#include "tools/cli/cli.h"
#include "tools/cli/outputs.h"
#include "tools/cli/terminal.h"
#include "tools/cli/usage_csv.h"
#include "tools/trace/output_file.h"

namespace taut::tools {
namespace {

// Time after a window's end in which late samples are accepted. A gauge is valid until its next sample.
constexpr int64_t kGraceSeconds = 120;

bool SaysKills(server::SeriesKind kind) {
  return kind == server::SeriesKind::kOomTotal || kind == server::SeriesKind::kOomReason ||
         kind == server::SeriesKind::kOomEnded || kind == server::SeriesKind::kLastEnded;
}

server::Ingest::Options IngestOptions(WindowId first, UsageCsv& csv) {
  server::Ingest::Options options;
  options.windows.grace_seconds = kGraceSeconds;
  options.windows.first_open = first;
  options.windows.on_task_cpu = [&csv](uint32_t task, std::span<const BucketWeight> cpu) {
    csv.TakeCpu(task, cpu);
  };
  return options;
}

// Writes the samples of a Prometheus as rows of a file in order of time.
class Fetch {
 public:
  Fetch(const server::MappingRules& rules, WindowId first, AppliesTo baseline, OutputFile& file)
      : ingest_(rules, IngestOptions(first, csv_)), file_(file) {
    baseline_.applies_to = baseline;
    file_.Append(UsageCsv::kHeader);
  }

  void Take(std::span<const LabelView> labels, std::span<const server::RemoteSample> samples, Timestamp now) {
    samples_ += samples.size();
    NoteKind(labels);
    ingest_.Take({labels, samples, server::Fingerprint(labels)}, now);
  }
  // Writes the windows that end before the watermark. REQUIRES: all samples before the watermark were added.
  void CloseUntil(Timestamp watermark) {
    csv_.TakeKills(ingest_.TakeOoms());
    ingest_.CloseUntil(watermark, [this](ClosedWindow&& closed) {
      for (JobWindowData& job : closed.jobs) {
        for (const Resource r : kResources) TakeOwnersAmount(baseline_, r, job);
      }
      rows_.clear();
      csv_.Add(
          closed, [this](JobId id) { return ingest_.mapper().jobs().name(id); }, rows_);
      file_.Append(rows_);
      if (csv_.rows() == 0) return;
      if (!first_.has_value()) first_ = closed.window;
      through_ = closed.window.next();
    });
    ingest_.ForgetIdle(watermark);
  }

  const UsageCsv& csv() const { return csv_; }
  const server::Ingest& ingest() const { return ingest_; }
  uint64_t samples() const { return samples_; }
  // Return the first and the last window with rows; nullopt if there are no rows.
  std::optional<WindowId> first() const { return first_; }
  std::optional<WindowId> through() const { return through_; }

 private:
  // Records whether the metric of the series counts OOM kills, once per metric.
  void NoteKind(std::span<const LabelView> labels) {
    const std::string_view metric = LabelValue(labels, kMetricNameLabel);
    if (csv_.knows_kills() || metrics_.contains(metric)) return;
    const std::optional<server::Mapping> mapping = ingest_.mapper().Explain(labels);
    if (!mapping.has_value()) return;
    metrics_.emplace(metric);
    if (SaysKills(mapping->kind)) csv_.KnowKills();
  }

  UsageCsv csv_;
  server::Ingest ingest_;
  OutputFile& file_;
  Allocation baseline_;
  std::set<std::string, std::less<>> metrics_;  // metrics that were already checked
  uint64_t samples_ = 0;
  std::optional<WindowId> first_, through_;
  std::string rows_;
};

struct FetchPlan {
  std::vector<server::MappingRule> rules;
  AppliesTo baseline = AppliesTo::kLimit;
  int64_t seconds = 0;             // length of the fetched time in seconds
  std::optional<Timestamp> until;  // end of the fetched time; absent: now
};

absl::StatusOr<FetchPlan> PlanFetch(const FetchArgs& args) {
  FetchPlan plan;
  absl::StatusOr<std::vector<server::MappingRule>> rules = server::ReadMappingRules(args.config);
  if (!rules.ok()) return rules.status();
  plan.rules = *std::move(rules);
  if (args.baseline == "request") plan.baseline = AppliesTo::kRequest;
  const absl::StatusOr<int64_t> seconds = ParseDurationSeconds(args.last);
  if (!seconds.ok()) return absl::InvalidArgumentError(StrCat("--last: ", Message(seconds.status())));
  if (*seconds < kWindowSeconds || *seconds > 1000 * kDaySeconds)
    return absl::InvalidArgumentError(StrCat("--last: ", args.last, ": expected 5m to 1000d"));
  plan.seconds = *seconds;
  if (args.until.empty()) return plan;
  const absl::StatusOr<int64_t> until = ParseTime(args.until);
  if (!until.ok()) return absl::InvalidArgumentError(StrCat("--until: ", Message(until.status())));
  plan.until = Timestamp::FromSeconds(*until);
  return plan;
}

absl::StatusOr<std::unique_ptr<server::PrometheusHistory>> OpenSource(const FetchArgs& args,
                                                                      const FetchPlan& plan) {
  const absl::StatusOr<std::string> token = server::ReadSecretFile(args.connection.token_file);
  if (!token.ok()) return absl::InvalidArgumentError(StrCat("--token-file: ", Message(token.status())));
  ClientOptions client;
  client.token = *token;
  client.ca_file = args.connection.ca_file;
  server::HistoryOptions options;
  options.url_option = "the first argument";
  options.token_option = "--token-file";
  return server::PrometheusHistory::Create(args.connection.server, client, plan.rules, options);
}

// Returns a replay command that succeeds: after its warm-up, by default 7 days, at least one day must remain to
// score.
std::string NextCommand(const std::string& file, WindowId first, WindowId through) {
  const int64_t seconds = int64_t{through.index - first.index} * kWindowSeconds;
  std::string out = StrCat("taut replay ", file);
  if (seconds >= 9 * kDaySeconds) return StrCat(out, " --report report.html");
  const int64_t warmup_days = std::max<int64_t>(0, seconds / kDaySeconds - 2);
  return StrCat(out, " --warmup ", warmup_days, warmup_days > 0 ? "d" : "", " --report report.html");
}

// Returns a summary of the fetched rows for users.
std::string FetchSummary(const FetchArgs& args, const Fetch& fetch) {
  const UsageCsv& csv = fetch.csv();
  const WindowId first = *fetch.first(), through = *fetch.through();
  std::string out =
      fmt::format("{}: {} of usage, {} to {} UTC: {}, {}, {} of 5 minutes\n", args.out,
                  FormatDuration(int64_t{through.index - first.index} * kWindowSeconds),
                  FormatTime(first.start_s()), FormatTime(through.start_s()), Counted(csv.jobs(), "job"),
                  Counted(csv.tasks(), "task"), Counted(csv.rows(), "row"));
  if (csv.kills() > 0) out += fmt::format("OOM kills: {}\n", FormatCount(csv.kills()));
  if (csv.kills_without_row() > 0)
    out += fmt::format("{} OOM kills are left out: their task has no usage in that window\n",
                       FormatCount(csv.kills_without_row()));
  if (csv.jobs_without_limit() > 0)
    out += fmt::format("{} of {} have no limit and no request: their rows have none to compare with\n",
                       FormatCount(csv.jobs_without_limit()), Counted(csv.jobs(), "job"));
  if (const uint64_t refused = fetch.ingest().counts().refused; refused > 0)
    out += fmt::format("{} samples of series with an unusable name are left out\n", FormatCount(refused));
  return out + fmt::format("next: {}\n", NextCommand(args.out, first, through));
}

absl::Status NothingFound(const FetchArgs& args, const Fetch& fetch, const FetchPlan& plan) {
  return absl::NotFoundError(fmt::format(
      "{}: no usage in the last {}{}: of {} samples that the mapping rules ask for, none is CPU or memory "
      "of a task; `taut mapping test --prometheus {}` shows what its series map to",
      args.connection.server, FormatDuration(plan.seconds),
      plan.until.has_value() ? StrCat(" before ", args.until) : "", FormatCount(fetch.samples()),
      args.connection.server));
}

// Fetches samples to the file. After an error or an interrupt, the file keeps the rows that were written.
absl::Status FetchTo(const FetchArgs& args, std::string& summary) {
  const absl::StatusOr<FetchPlan> plan = PlanFetch(args);
  if (!plan.ok()) return plan.status();
  absl::StatusOr<server::MappingRules> rules = server::MappingRules::Compile(plan->rules);
  if (!rules.ok()) return rules.status();
  absl::StatusOr<std::unique_ptr<server::PrometheusHistory>> history = OpenSource(args, *plan);
  if (!history.ok()) return history.status();
  // Query the server's time before creating the file, so that an unreachable server leaves no file behind.
  absl::StatusOr<Timestamp> now = (*history)->ServerTime();
  if (absl::IsUnavailable(now.status())) return now.status();
  // VictoriaMetrics has no server time while it hides the newest samples. Any other error occurs again in Read()
  // below.
  if (!now.ok()) now = Timestamp{absl::ToUnixMicros(absl::Now())};
  absl::StatusOr<std::unique_ptr<OutputFile>> file = OpenOutput({"--out", args.out});
  if (!file.ok()) return file.status();
  const Timestamp end = std::min(plan->until.value_or(*now), *now);
  const WindowId first = WindowId::Of({end.us - plan->seconds * kMicrosPerSecond});
  Fetch fetch(*rules, first, plan->baseline, **file);
  ProgressLine progress(args.quiet);
  Timestamp chunk_end;
  server::HistorySink sink;
  sink.on_chunk_begin = [&](Timestamp t) { chunk_end = t; };
  sink.on_series = [&](std::span<const LabelView> labels, std::span<const server::RemoteSample> samples) {
    fetch.Take(labels, samples, chunk_end);
    return absl::OkStatus();
  };
  sink.on_chunk_done = [&](Timestamp watermark) {
    fetch.CloseUntil(watermark);
    return absl::OkStatus();
  };
  sink.on_progress = [&](const server::HistoryProgress& p) {
    progress.Update(p.Sentence(), static_cast<double>(p.done_seconds) / static_cast<double>(p.total_seconds));
  };
  sink.should_stop = Interrupted;
  // Start reading one window earlier, because the rate of a counter needs an earlier sample.
  const absl::Status read =
      (*history)->Read(Timestamp::FromSeconds(first.start_s() - kWindowSeconds), end, sink);
  progress.Clear();
  // Omit a window that has not ended.
  if (read.ok()) fetch.CloseUntil(Timestamp::FromSeconds(WindowId::Of(end).start_s() + kGraceSeconds));
  if (!fetch.through().has_value()) return read.ok() ? NothingFound(args, fetch, *plan) : read;
  if (absl::Status s = (*file)->Close(); !s.ok()) return s;
  summary = FetchSummary(args, fetch);
  return read;
}

}  // namespace

int RunFetch(const FetchArgs& args) {
  CatchInterrupts();
  std::string summary;
  const absl::Status status = FetchTo(args, summary);
  if (!status.ok() && !summary.empty()) Print(StrCat("PARTIAL: ", Message(status), "\n"));
  if (!args.quiet || !status.ok()) Print(summary);
  if (status.ok()) return kExitOk;
  return summary.empty() || !absl::IsCancelled(status) ? Fail(status) : kExitPartial;
}

}  // namespace taut::tools
