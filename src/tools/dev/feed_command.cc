// taut-dev feed: sends a simulated cell to tautd by remote write, first its history, then live usage.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"
#include "tools/cli/cli.h"
#include "tools/cli/terminal.h"
#include "tools/dev/commands.h"
#include "tools/dev/feed_cell.h"
#include "tools/dev/remote_sender.h"

namespace taut::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kFedSeriesPerRequest = 2000;
constexpr int kHistorySteps = 2;  // scrapes per window of history, fewer than in the live phase

int64_t UnixSeconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

double SecondsSince(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

// Prints the progress of the live phase as one line of the terminal.
class LiveLine {
 public:
  explicit LiveLine(bool quiet) : enabled_(!quiet && StderrIsTerminal()) {}
  ~LiveLine() {
    if (shown_) fmt::print(stderr, "\n");
  }
  void Update(const std::string& text) {
    if (!enabled_ || (shown_ && SecondsSince(last_) < 0.25)) return;
    fmt::print(stderr, "\r\033[K{}", text);
    std::fflush(stderr);
    last_ = Clock::now();
    shown_ = true;
  }

 private:
  const bool enabled_;
  bool shown_ = false;
  Clock::time_point last_;
};

class Feed {
 public:
  // `orders` is the client that polls tautd's orders for numbers of tasks; null: the orders are ignored.
  Feed(const FeedArgs& args, std::unique_ptr<FeedCell> cell, RemoteSender sender,
       std::unique_ptr<HttpClient> orders, int steps)
      : args_(args),
        cell_(std::move(cell)),
        sender_(std::move(sender)),
        orders_(std::move(orders)),
        steps_(steps) {}

  absl::Status SendHistory(int64_t windows);
  // Sends `windows` windows of the cell, beginning with window `first`. Returns Cancelled after a signal.
  absl::Status Live(int64_t first, int64_t windows);
  const FeedCell& cell() const { return *cell_; }
  const RemoteSender& sender() const { return sender_; }
  uint64_t scalings() const { return scalings_; }

 private:
  absl::Status Scrape(const FeedCell::Steps& steps) {
    return cell_->Scrape(steps, kFedSeriesPerRequest, [this](std::span<const server::RemoteSeries> series) {
      return sender_.Send(server::EncodeWriteRequest(series));
    });
  }
  // Applies the numbers of tasks that tautd ordered since the last call. After a failed request, the next window
  // retries.
  void Follow();
  // Waits until the simulated time reaches `cell_s`. Returns false if a signal arrived.
  bool WaitFor(int64_t cell_s, int64_t live_from_s, Clock::time_point live_since) const;
  void Say(const std::string& text) const {
    if (!args_.quiet) Print(text + "\n");
    std::fflush(stdout);
  }

  const FeedArgs& args_;
  std::unique_ptr<FeedCell> cell_;
  RemoteSender sender_;
  std::unique_ptr<HttpClient> orders_;
  int64_t last_order_ = 0;
  uint64_t scalings_ = 0;
  const int steps_;
};

absl::Status Feed::SendHistory(int64_t windows) {
  ProgressLine progress(args_.quiet);
  const Clock::time_point begin = Clock::now();
  for (int64_t w = 0; w < windows; ++w) {
    const int steps = std::min(steps_, kHistorySteps);
    if (absl::Status s = Scrape({w, steps, 0, steps}); !s.ok()) return s;
    progress.Update("sending history", static_cast<double>(w + 1) / static_cast<double>(windows));
  }
  progress.Clear();
  if (windows > 0) {
    Say(fmt::format("history: {} of {}, {} samples in {:.1f} s", FormatDuration(windows * kWindowSeconds),
                    Counted(cell_->num_jobs(), "job"), FormatCount(cell_->samples()), SecondsSince(begin)));
  }
  return absl::OkStatus();
}

bool Feed::WaitFor(int64_t cell_s, int64_t live_from_s, Clock::time_point live_since) const {
  if (args_.speed == 1) {
    const int64_t ahead_s = cell_->start_s() + cell_s - UnixSeconds();
    return SleepUntil(Clock::now() + std::chrono::seconds(std::max<int64_t>(ahead_s, 0)));
  }
  const double real_s = static_cast<double>(cell_s - live_from_s) / args_.speed;
  return SleepUntil(live_since +
                    std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(real_s)));
}

void Feed::Follow() {
  if (orders_ == nullptr) return;
  constexpr int kMostPages = 20;
  std::vector<Json> fresh;  // entries since the last call, newest first
  int64_t before = 0;
  for (int page = 0; page < kMostPages; ++page) {
    const std::string path = StrCat("/api/v1/decisions?target=replicas&limit=100",
                                    before > 0 ? StrCat("&before=", before) : std::string());
    const absl::StatusOr<Json> answer = GetJson(*orders_, path);
    if (!answer.ok() || !answer->contains("decisions")) return;
    const Json& decisions = answer->at("decisions");
    if (decisions.empty()) break;
    for (const Json& d : decisions) {
      before = d.value("id", int64_t{0});
      if (before <= last_order_) break;
      fresh.push_back(d);
    }
    if (before <= last_order_) break;
  }
  std::reverse(fresh.begin(), fresh.end());
  for (const Json& d : fresh) {
    last_order_ = d.value("id", int64_t{0});
    if (d.value("kind", "") == "would_set" || !d.contains("after")) continue;
    const Json& after = d["after"];
    const std::optional<uint32_t> tasks =
        after.is_number() ? std::optional(static_cast<uint32_t>(after.get<double>())) : std::nullopt;
    scalings_ += cell_->SetTasks(d.value("job", ""), tasks) ? 1 : 0;
  }
}

absl::Status Feed::Live(int64_t first, int64_t windows) {
  LiveLine line(args_.quiet);
  const Clock::time_point begin = Clock::now();
  const uint64_t before = cell_->samples();
  const int64_t step_s = kWindowSeconds / steps_;
  for (int64_t w = first; w < first + windows; ++w) {
    if (w > first && w % cell_->windows() == 0) Say("restarting the data set with new pod names");
    for (int k = 0; k < steps_; ++k) {
      // A scrape is due when the last pod of the step has been scraped.
      const int64_t due_s = w * kWindowSeconds + k * step_s + FeedCell::kMaxOffsetSeconds;
      if (!WaitFor(due_s, first * kWindowSeconds, begin)) return absl::CancelledError("interrupted");
      if (k == 0) Follow();
      if (absl::Status s = Scrape({w, steps_, k, k + 1}); !s.ok()) return s;
      const double real_s = std::max(SecondsSince(begin), 0.001);
      line.Update(fmt::format(
          "live: {}, {} samples/s, {} deploys, {} OOM kills, {} retries",
          FormatTime(cell_->start_s() + due_s),
          FormatCount(static_cast<uint64_t>(static_cast<double>(cell_->samples() - before) / real_s)),
          cell_->deploys(), cell_->oom_kills(), sender_.counts().retries));
    }
  }
  return absl::OkStatus();
}

struct Plan {
  int64_t history_windows = 0, live_windows = INT64_MAX / 2;
  int steps = 5;
  int days = 42;
};

absl::StatusOr<Plan> MakePlan(const FeedArgs& args) {
  Plan plan;
  const absl::StatusOr<int64_t> history = ParseDurationSeconds(args.history);
  if (!history.ok()) return absl::InvalidArgumentError(StrCat("--history: ", Message(history.status())));
  const auto history_days =
      static_cast<int>((std::max<int64_t>(*history, 0) + kDaySeconds - 1) / kDaySeconds);
  plan.days = args.days > 0 ? args.days : FeedDays(args.jobs, history_days);
  if (*history < 0 || *history > int64_t{plan.days} * kDaySeconds)
    return absl::InvalidArgumentError(
        StrCat("--history: ", args.history, " is longer than --days ", plan.days));
  if (const int64_t bytes = FeedBytes(args.jobs, plan.days); args.days == 0 && bytes > kFeedBytes) {
    return absl::InvalidArgumentError(StrCat("--history: ", args.history, " of ", args.jobs, " jobs takes ",
                                             FormatBytes(static_cast<double>(bytes)),
                                             " of memory: choose fewer, or allow it by --days ", plan.days));
  }
  plan.history_windows = *history / kWindowSeconds;
  if (!args.live.empty()) {
    const absl::StatusOr<int64_t> live = ParseDurationSeconds(args.live);
    if (!live.ok()) return absl::InvalidArgumentError(StrCat("--live: ", Message(live.status())));
    plan.live_windows = (*live + kWindowSeconds - 1) / kWindowSeconds;
  }
  if (!(args.speed > 0 && args.speed <= 1e6))
    return absl::InvalidArgumentError(StrCat("--speed: ", args.speed, ": expected 0 to 1000000"));
  const absl::StatusOr<int64_t> every = ParseDurationSeconds(args.every);
  if (!every.ok()) return absl::InvalidArgumentError(StrCat("--every: ", Message(every.status())));
  if (*every < 10 || *every > 150 || kWindowSeconds % *every != 0)
    return absl::InvalidArgumentError(StrCat(
        "--every: ", args.every, ": expected 10s, 12s, 15s, 20s, 25s, 30s, 50s, 1m, 75s, 100s or 150s"));
  plan.steps = static_cast<int>(kWindowSeconds / *every);
  return plan;
}

absl::Status RunFeedOnce(const FeedArgs& args) {
  const absl::StatusOr<Plan> plan = MakePlan(args);
  if (!plan.ok()) return plan.status();
  absl::StatusOr<std::unique_ptr<HttpClient>> client = Connect(args.connection);
  if (!client.ok()) return client.status();
  FeedCellOptions options;
  options.jobs = args.jobs;
  options.days = plan->days;
  options.seed = args.seed;
  options.ooms = args.ooms;
  const int64_t now_s = UnixSeconds();
  options.start_s = now_s - now_s % kWindowSeconds - plan->history_windows * kWindowSeconds;
  if (!args.quiet && plan->days != 42)
    Print(fmt::format("the data set has {}, about {} of memory; then it restarts\n",
                      Counted(static_cast<uint64_t>(plan->days), "day"),
                      FormatBytes(static_cast<double>(FeedBytes(args.jobs, plan->days)))));
  RemoteSender sender(std::move(*client));
  // Detect an unreachable server or a wrong token before the cell is generated, because generation is slow.
  if (absl::Status s = sender.Send(server::EncodeWriteRequest({})); !s.ok()) return s;
  absl::StatusOr<std::unique_ptr<FeedCell>> cell = FeedCell::Generate(options);
  if (!cell.ok()) return cell.status();
  std::unique_ptr<HttpClient> orders;
  if (args.follow) {
    absl::StatusOr<std::unique_ptr<HttpClient>> second = Connect(args.connection);
    if (!second.ok()) return second.status();
    orders = *std::move(second);
  }
  Feed feed(args, std::move(*cell), std::move(sender), std::move(orders), plan->steps);
  if (absl::Status s = feed.SendHistory(plan->history_windows); !s.ok()) return s;
  if (plan->live_windows > 0 && !args.quiet) {
    Print(fmt::format("live: at {} times real time; ^C stops\n", args.speed));
    std::fflush(stdout);
  }
  const absl::Status lived = feed.Live(plan->history_windows, plan->live_windows);
  if (!args.quiet) {
    Print(fmt::format("sent {} samples in {} ({}); {}, {}\n", FormatCount(feed.cell().samples()),
                      Counted(feed.sender().counts().answers[2], "request"),
                      FormatCount(feed.sender().counts().retries) +
                          (feed.sender().counts().retries == 1 ? " retry" : " retries"),
                      Counted(feed.cell().deploys(), "deploy"),
                      Counted(feed.cell().oom_kills(), "OOM kill")));
    if (args.follow) Print(fmt::format("{} changes of a number of tasks\n", feed.scalings()));
  }
  return lived;
}

}  // namespace

int RunFeed(const FeedArgs& args) {
  CatchInterrupts();
  const absl::Status status = RunFeedOnce(args);
  if (status.ok() || absl::IsCancelled(status)) return kExitOk;
  PrintError(Message(status));
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

}  // namespace taut::tools
