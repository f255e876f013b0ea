// taut top: shows the fleet and its jobs, and redraws the screen after every closed window.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "common/base/strings.h"
#include "tools/cli/answer.h"
#include "tools/cli/cli.h"
#include "tools/cli/commands.h"
#include "tools/cli/jobs_text.h"
#include "tools/cli/status_text.h"
#include "tools/cli/terminal.h"

namespace taut::tools {
namespace {

constexpr int kOnceRows = 20;    // number of jobs if stdout is not a terminal
constexpr int kOtherLines = 11;  // lines of the page that do not show jobs
constexpr int kKeyMilliseconds = 100;

struct Page {
  Json fleet, jobs;
  std::string nothing;  // text shown before the first window closed, instead of fleet and jobs
  std::string Text() const { return nothing.empty() ? FleetText(fleet) + "\n" + JobsText(jobs) : nothing; }
};

absl::StatusOr<Page> Ask(HttpClient& client, const TopArgs& args, int rows) {
  auto fleet = GetJson(client, "/api/v1/fleet");
  if (!fleet.ok()) return fleet.status();
  std::vector<QueryParameter> query = {{"limit", std::to_string(rows)}, {"totals", "true"}};
  if (!args.sort.empty()) query.push_back({"sort", args.sort});
  if (const std::string search = SearchOf(args.search, args.ns); !search.empty())
    query.push_back({"search", search});
  auto jobs = GetJson(client, "/api/v1/jobs" + FormatQuery(query));
  if (!jobs.ok()) return jobs.status();
  Page page{*std::move(fleet), *std::move(jobs), ""};
  if (!At(page.fleet, "time").is_null()) return page;
  if (const auto status = GetJson(client, "/api/v1/status"); status.ok())
    page.nothing = NoWindowText(*status);
  return page;
}

// Waits for closed windows in a thread that runs until the process ends. Mostly the thread blocks in a read. It
// owns all data that it uses.
class WindowWatch {
 public:
  explicit WindowWatch(const ConnectionArgs& connection) {
    std::thread([connection, news = news_] {
      while (true) {
        const auto client = Connect(connection);
        if (!client.ok()) return;
        const absl::Status status =
            (*client)->ReadEvents("/api/v1/events", [&news](const ServerEvent& event) {
              if (event.event == "window") ++*news;
              return true;
            });
        // The daemon was unreachable for a time, so the page may be outdated.
        std::this_thread::sleep_for(std::chrono::seconds(2));
        ++*news;
      }
    }).detach();
  }
  uint64_t news() const { return *news_; }

 private:
  const std::shared_ptr<std::atomic<uint64_t>> news_ = std::make_shared<std::atomic<uint64_t>>(0);
};

absl::Status Watch(HttpClient& client, const TopArgs& args) {
  CatchInterrupts();
  absl::StatusOr<Page> page = Ask(client, args, kOnceRows);
  if (!page.ok()) return page.status();  // fail before the switch to the full screen
  const WindowWatch watch(args.daemon.connection);
  const Screen screen;
  uint64_t drawn_news = 0;
  int drawn_rows = 0;
  while (!Interrupted()) {
    if (watch.news() != drawn_news || screen.rows() != drawn_rows) {
      drawn_news = watch.news();
      drawn_rows = screen.rows();
      absl::StatusOr<Page> fresh = Ask(client, args, std::clamp(drawn_rows - kOtherLines, 1, 1000));
      std::string trouble;
      if (fresh.ok()) {
        page = std::move(fresh);
      } else {
        trouble = StrCat("  ", Printable(std::string(Message(fresh.status()))));
      }
      screen.Draw(page->Text() + "q quits" + trouble);
    }
    const char key = screen.WaitKey(kKeyMilliseconds);
    if (key == 'q' || key == 'Q') break;
  }
  return absl::OkStatus();
}

absl::Status Top(const TopArgs& args) {
  const auto client = Connect(args.daemon.connection);
  if (!client.ok()) return client.status();
  if (args.daemon.output == OutputForm::kTable && Screen::Usable()) return Watch(**client, args);
  const absl::StatusOr<Page> page = Ask(**client, args, kOnceRows);
  if (!page.ok()) return page.status();
  const Json both = {{"fleet", page->fleet}, {"jobs", page->jobs}};
  Show(args.daemon.output, both, [&] { return page->Text(); });
  return absl::OkStatus();
}

}  // namespace

int RunTop(const TopArgs& args) {
  const absl::Status status = Top(args);
  if (status.ok()) return kExitOk;
  PrintError(Printable(std::string(Message(status))));
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

}  // namespace taut::tools
