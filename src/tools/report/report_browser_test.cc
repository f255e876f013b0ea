// Tests of the page in a real browser: the script draws the report, and the page's content security policy permits
// the script.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "fmt/format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/report/page.h"
#include "tools/report/report_fixture.h"

namespace taut::tools {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string OutputOf(const std::string& command) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string out;
  std::array<char, 65536> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) out.append(buffer.data(), n);
  pclose(pipe);
  return out;
}

// Returns the page's HTML after the script ran, and the browser's log, in which console messages contain
// "CONSOLE".
std::string DocumentOf(const std::string& page) {
  const std::string folder = fmt::format("{}taut_report_{}", testing::TempDir(), getpid());
  OutputOf(fmt::format("mkdir -p '{}'", folder));
  std::ofstream(folder + "/report.html") << page;
  std::string document = OutputOf(fmt::format(
      "timeout 60 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run "
      "--disable-background-networking --disable-component-update --disable-sync --enable-logging=stderr "
      "--user-data-dir='{0}/profile' --dump-dom 'file://{0}/report.html' 2>&1",
      folder));
  OutputOf(fmt::format("rm -rf '{}'", folder));
  return document;
}

class ReportBrowserTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (OutputOf("command -v chromium").empty()) GTEST_SKIP() << "no chromium on this machine";
    if (const absl::Status s = CheckReportPage(); !s.ok()) GTEST_SKIP() << s.message();
  }
};

TEST_F(ReportBrowserTest, DrawsEveryPart) {
  const auto fixture = MakeReportFixture({.jobs = 30, .days = 20, .stories = 3});
  const std::string document = DocumentOf(HtmlReport(fixture->input));
  EXPECT_THAT(document, Not(HasSubstr("CONSOLE")));
  EXPECT_THAT(document, HasSubstr("<title>Replay of vms_001-250_2013-07.csv.gz and 1 more</title>"));
  EXPECT_THAT(document, ContainsRegex("class=\"name\"[^>]*>analogs</span>, 30&nbsp;jobs would have needed "));
  EXPECT_THAT(document, HasSubstr("class=\"pick\""));                          // the table of recommenders
  EXPECT_THAT(document, HasSubstr("aria-label=\"Show analogs\""));             // the scatter plot
  EXPECT_THAT(document, HasSubstr("class=\"uplot"));                           // the line charts
  EXPECT_THAT(document, HasSubstr("<span class=\"job-name\">vm-030</span>"));  // the table of jobs
  // the heatmap of a job story
  EXPECT_THAT(document, HasSubstr("class=\"strip mark-of p-analogs\""));
  EXPECT_THAT(document, HasSubstr("class=\"paragraph\">Of 412 job-days that "));  // the story's reason
}

TEST_F(ReportBrowserTest, HostileNamesBecomeText) {
  auto fixture = MakeReportFixture({.jobs = 3, .days = 10, .stories = 1});
  fixture->jobs[0].name = "</script><img src=x onerror=\"document.title='broken'\">";
  fixture->input.title = "<b>title</b>";
  fixture->input.stories[0].job = fixture->jobs[0].name;
  const std::string document = DocumentOf(HtmlReport(fixture->input));
  EXPECT_THAT(document, HasSubstr("<title>&lt;b&gt;title&lt;/b&gt;</title>"));
  EXPECT_THAT(document, HasSubstr("&lt;/script&gt;&lt;img src=x"));
  EXPECT_THAT(document, Not(HasSubstr("<img")));
  EXPECT_THAT(document, Not(HasSubstr("CONSOLE")));
}

TEST_F(ReportBrowserTest, AnEmptyReplaySaysSo) {
  ReportFixture empty;
  empty.input.result = &empty.result;
  empty.input.jobs = &empty.jobs;
  const std::string document = DocumentOf(HtmlReport(empty.input));
  EXPECT_THAT(document, HasSubstr("Nothing was replayed"));
  EXPECT_THAT(document, Not(HasSubstr("CONSOLE")));
}

}  // namespace
}  // namespace taut::tools
