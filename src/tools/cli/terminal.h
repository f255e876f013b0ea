// Output of commands: results to stdout, progress and warnings to stderr, colour only on a terminal. Inside
// another program a Console (console.h) receives the output, and determines whether the command is interrupted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "common/base/printable.h"

namespace taut::tools {

// Returns true if output may be coloured: stdout is a terminal, NO_COLOR is unset or empty, and TERM is not dumb.
// A null argument stands for an unset variable.
bool WantsColour(bool is_terminal, const char* no_color, const char* term);
bool StdoutIsTerminal();
bool StderrIsTerminal();

// Writes to stdout. Ignores a closed pipe.
void Print(std::string_view text);
// Sets the program's name in warnings and errors; the default is taut. REQUIRES: no other thread runs.
void NameProgram(const char* name);
// Writes the program's name, such as "taut: ", and `text` to stderr. Escapes control characters
// (common/base/printable.h).
void Warn(std::string_view text);
void PrintError(std::string_view text);
// Prints the error and returns the exit code (tools/cli/cli.h): InvalidArgument is a usage error, Cancelled a
// partial output.
int Fail(const absl::Status& status);

// Formats a share from 0 to 1 in percent, such as "12.3 %".
std::string Percent(double share, int decimals = 1);

// Returns true unless `c` is a continuation byte of a UTF-8 character.
inline bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }
// Returns the width of UTF-8 text on a terminal, at one column per character.
size_t DisplayWidth(std::string_view text);
// Returns the text, cut to `width` columns. The last column of a cut text is "…".
std::string Shortened(const std::string& text, size_t width);
// Cuts a name at its beginning, because many jobs have names with the same beginning.
std::string ShortenedName(const std::string& name, size_t width);

// A text table with a left-aligned first column and right-aligned other columns. Control characters in cells are
// escaped; text that is already escaped is unchanged.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Returns the table. A '\n' in a head makes a second head line. Lines end in '\n' and have no trailing blanks.
  std::string Render() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Returns true if tables must not shorten names. This is the case if stdout is not a terminal, so that scripts can
// search for names.
bool KeepsNamesWhole();
void KeepNamesWhole(bool whole);

inline constexpr size_t kTextColumns = 100;  // maximum width of the text for a daemon's response
// Wraps `text` into lines of at most kTextColumns, each starting with `indent`.
std::string Wrapped(std::string_view text, std::string_view indent);
// Wraps a line that scripts search, as Wrapped() does. The line stays whole if KeepsNamesWhole() is true.
std::string WrappedLine(std::string_view text, std::string_view indent);
// Returns the table with the widest names that fits into kTextColumns: reduces `width` until the table fits or
// `width` is `least`. Names stay whole if KeepsNamesWhole() is true.
std::string FittedTable(size_t width, size_t least, absl::FunctionRef<std::string(size_t width)> table);
// Returns one line of text, with the widest names that fit into kTextColumns. Wraps a line that is still wider.
// The line stays whole if KeepsNamesWhole() is true.
std::string FittedLine(absl::FunctionRef<std::string(size_t width)> line);

// A progress line, rewritten at most ten times a second. Prints nothing if stderr is not a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine() { Clear(); }
  // Shows the current step `what` and its progress `share`, in [0, 1].
  void Update(std::string_view what, double share);
  void Clear();

 private:
  bool enabled_;
  bool shown_ = false;
  int64_t last_ms_ = 0;
  int64_t start_ms_ = 0;
};

// Installs a handler for SIGINT and SIGTERM that only sets a flag. A second signal kills the program.
void CatchInterrupts();
bool Interrupted();
// Makes SIGINT and SIGTERM end the program at once with success, for commands that run until interrupted.
// REQUIRES: the output is flushed.
void ExitOnInterrupt();

// The full screen of a terminal for a page that is redrawn repeatedly. Keys are read one by one without echo. The
// destructor restores the terminal. REQUIRES: stdin and stdout are terminals, and no other Screen exists.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Draws the text from the top of the screen. Omits lines that do not fit.
  void Draw(std::string_view text) const;
  int rows() const;
  // Returns the next key; 0 if no key is pressed within `milliseconds`.
  char WaitKey(int milliseconds) const;

  static bool Usable();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace taut::tools
