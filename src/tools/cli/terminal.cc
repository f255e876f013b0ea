#include "tools/cli/terminal.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "common/base/strings.h"
#include "fmt/format.h"
#include "tools/cli/cli.h"
#include "tools/cli/console.h"

namespace taut::tools {
namespace {

volatile std::sig_atomic_t interrupted = 0;
bool whole_names = false;
const char* program_name = "taut";

void OnSignal(int signal) {
  interrupted = 1;
  std::signal(signal, SIG_DFL);
}

// A dumb terminal supports neither colours nor cursor movement.
bool IsDumb(const char* term) { return term == nullptr || *term == '\0' || std::string_view(term) == "dumb"; }

int64_t NowMs() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

bool WantsColour(bool is_terminal, const char* no_color, const char* term) {
  return is_terminal && (no_color == nullptr || *no_color == '\0') && !IsDumb(term);
}

bool StdoutIsTerminal() { return isatty(STDOUT_FILENO) == 1; }
bool StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

void Print(std::string_view text) {
  if (Console* const console = CurrentConsole()) {
    console->text += text;
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Warn(std::string_view text) {
  if (Console* const console = CurrentConsole()) {
    console->warnings.emplace_back(text);
    return;
  }
  fmt::print(stderr, "{}: {}\n", program_name, Printable(text, /*keep_newlines=*/true));
}
void NameProgram(const char* name) { program_name = name; }

void PrintError(std::string_view text) {
  if (Console* const console = CurrentConsole()) {
    console->error = text;
    return;
  }
  std::fflush(stdout);
  const bool colour = WantsColour(StderrIsTerminal(), std::getenv("NO_COLOR"), std::getenv("TERM"));
  fmt::print(stderr, "{}{}: {}{}\n", colour ? "\033[31m" : "", program_name,
             Printable(text, /*keep_newlines=*/true), colour ? "\033[0m" : "");
}

int Fail(const absl::Status& status) {
  PrintError(Message(status));
  if (absl::IsCancelled(status)) return kExitPartial;
  return absl::IsInvalidArgument(status) ? kExitUsage : kExitFailed;
}

std::string Percent(double share, int decimals) { return fmt::format("{:.{}f} %", 100 * share, decimals); }

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), BeginsCharacter));
}

std::string Shortened(const std::string& text, size_t width) {
  if (DisplayWidth(text) <= width) return text;
  std::string out;
  size_t taken = 0;
  for (const char c : text) {
    if (BeginsCharacter(c) && ++taken == width) break;
    out.push_back(c);
  }
  return out + "…";
}

std::string ShortenedName(const std::string& name, size_t width) {
  if (DisplayWidth(name) <= width) return name;
  size_t at = name.size();
  for (size_t kept = 1; kept < width;) kept += BeginsCharacter(name[--at]) ? 1 : 0;
  return StrCat("…", std::string_view(name).substr(at));
}

std::string Wrapped(std::string_view text, std::string_view indent) {
  std::string out, line;
  for (const std::string_view word : Split(text, ' ')) {
    if (!line.empty() && DisplayWidth(indent) + DisplayWidth(line) + 1 + DisplayWidth(word) > kTextColumns) {
      StrAppend(&out, indent, line, "\n");
      line.clear();
    }
    StrAppend(&line, line.empty() ? "" : " ", word);
  }
  if (!line.empty()) StrAppend(&out, indent, line, "\n");
  return out;
}

std::string WrappedLine(std::string_view text, std::string_view indent) {
  return KeepsNamesWhole() && !text.empty() ? StrCat(indent, text, "\n") : Wrapped(text, indent);
}

bool KeepsNamesWhole() { return whole_names; }
void KeepNamesWhole(bool whole) { whole_names = whole; }

std::string FittedTable(size_t width, size_t least, absl::FunctionRef<std::string(size_t width)> table) {
  if (KeepsNamesWhole()) return table(SIZE_MAX);
  std::string out;
  for (; width >= least; --width) {
    out = table(width);
    size_t widest = 0;
    for (const std::string_view line : Split(out, '\n')) widest = std::max(widest, DisplayWidth(line));
    if (widest <= kTextColumns) break;
  }
  return out;
}

std::string FittedLine(absl::FunctionRef<std::string(size_t width)> line) {
  return WrappedLine(FittedTable(kTextColumns, 10, line), "");
}

std::string TextTable::Render() const {
  std::vector<std::vector<std::string>> lines;
  for (const std::vector<std::string>& row : rows_) {
    if (&row != &rows_.front()) {
      std::vector<std::string>& line = lines.emplace_back();
      for (const std::string& cell : row) line.push_back(Printable(cell));
      continue;
    }
    std::vector<std::string> upper;
    std::vector<std::string> lower;
    for (const std::string& cell : row) {
      const std::vector<std::string_view> parts = Split(cell, '\n');
      upper.push_back(parts.size() > 1 ? Printable(parts[0]) : "");
      lower.push_back(Printable(parts.back()));
    }
    if (std::any_of(upper.begin(), upper.end(), [](const std::string& s) { return !s.empty(); }))
      lines.push_back(upper);
    lines.push_back(lower);
  }
  std::vector<size_t> width(rows_.front().size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) width[i] = std::max(width[i], DisplayWidth(line[i]));
  }
  // Separate columns by one blank if two blanks would make the table too wide.
  size_t total = 0;
  for (size_t w : width) total += w + 2;
  const std::string_view gap = total - 2 <= kTextColumns ? "  " : " ";
  std::string out;
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      const std::string blanks(width[i] - DisplayWidth(line[i]), ' ');
      text += i == 0 ? line[i] + blanks : StrCat(gap, blanks, line[i]);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

ProgressLine::ProgressLine(bool quiet)
    : enabled_(!quiet && CurrentConsole() == nullptr && StderrIsTerminal() && !IsDumb(std::getenv("TERM"))),
      start_ms_(NowMs()) {}

void ProgressLine::Update(std::string_view what, double share) {
  if (const Console* const console = CurrentConsole(); console != nullptr && console->on_progress != nullptr)
    console->on_progress(what, std::clamp(share, 0.0, 1.0));
  if (!enabled_) return;
  const int64_t now = NowMs();
  if (shown_ && now - last_ms_ < 100) return;
  last_ms_ = now;
  shown_ = true;
  share = std::clamp(share, 0.0, 1.0);
  constexpr int kWidth = 24;
  const int filled = static_cast<int>(share * kWidth);
  std::string left;
  const double elapsed_s = static_cast<double>(now - start_ms_) / 1000;
  if (share > 0.02 && elapsed_s > 1) left = fmt::format(", {:.0f} s left", elapsed_s * (1 - share) / share);
  fmt::print(stderr, "\r\033[K[{:=<{}}{: <{}}] {:3.0f} %  {}{}", "", filled, "", kWidth - filled, 100 * share,
             what, left);
  std::fflush(stderr);
}

void ProgressLine::Clear() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

void CatchInterrupts() {
  if (CurrentConsole() != nullptr) return;
  std::signal(SIGINT, OnSignal);
  std::signal(SIGTERM, OnSignal);
}

bool Interrupted() {
  const Console* const console = CurrentConsole();
  if (console != nullptr) return console->should_stop != nullptr && console->should_stop();
  return interrupted != 0;
}

void ExitOnInterrupt() {
  const auto end = [](int) { _exit(0); };
  std::signal(SIGINT, end);
  std::signal(SIGTERM, end);
}

struct Screen::State {
  termios before{};
};

bool Screen::Usable() {
  return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 && !IsDumb(std::getenv("TERM"));
}

Screen::Screen() : state_(std::make_unique<State>()) {
  tcgetattr(STDIN_FILENO, &state_->before);
  termios keys = state_->before;
  keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  keys.c_cc[VMIN] = 0;
  keys.c_cc[VTIME] = 0;
  tcsetattr(STDIN_FILENO, TCSANOW, &keys);
  Print("\033[?1049h\033[?25l");  // use the alternate screen and hide the cursor
}

Screen::~Screen() {
  Print("\033[?25h\033[?1049l");
  std::fflush(stdout);
  tcsetattr(STDIN_FILENO, TCSANOW, &state_->before);
}

int Screen::rows() const {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 24;
}

void Screen::Draw(std::string_view text) const {
  std::string out = "\033[H";
  int left = rows();
  for (const std::string_view line : Split(text, '\n')) {
    if (left-- <= 0) break;
    StrAppend(&out, line, "\033[K", left > 0 ? "\r\n" : "");
  }
  Print(out + "\033[J");
  std::fflush(stdout);
}

char Screen::WaitKey(int milliseconds) const {
  pollfd in{STDIN_FILENO, POLLIN, 0};
  char key = 0;
  if (poll(&in, 1, milliseconds) <= 0) return 0;
  return read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';  // the terminal was closed, so quit
}

}  // namespace taut::tools
