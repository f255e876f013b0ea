// Output of commands: tables and results to stdout, progress and warnings to stderr, colour only on a
// terminal.
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

// Returns true if colours are used. Colours require a terminal, a NO_COLOR that is not set or empty, and a
// TERM that is not dumb (nullptr: the variable is not set).
bool WantsColour(bool is_terminal, const char* no_color, const char* term);
bool StdoutIsTerminal();
bool StderrIsTerminal();

// Writes to stdout. A closed pipe is not an error.
void Print(std::string_view text);
// Sets the program's name in warnings and errors, which is taut by default. Call it before threads start.
void NameProgram(const char* name);
// Writes the program's name, as "taut: ", and the text to stderr. Control characters are escaped
// (common/base/printable.h).
void Warn(std::string_view text);
void PrintError(std::string_view text);
// Prints the error and returns its exit code (tools/cli/cli.h): InvalidArgument means an invalid command
// line, Cancelled a partial output.
int Fail(const absl::Status& status);

// Returns a share of 1 in per cent, such as "12.3 %".
std::string Percent(double share, int decimals = 1);

// Returns false for the bytes of a UTF-8 character after its first.
inline bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }
// Returns the number of columns that UTF-8 text needs on a terminal, one column per character.
size_t DisplayWidth(std::string_view text);
// Returns the first `width` columns of the text. The last column is "…" if the text was cut.
std::string Shortened(const std::string& text, size_t width);
// Cuts the name from the front: the end of a job's name is more specific than the beginning, which many jobs
// share.
std::string ShortenedName(const std::string& name, size_t width);

// A text table: the first column is left-aligned, all other columns are right-aligned. Control characters are
// escaped in every cell; text that is already escaped is unchanged.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Returns the table. A head may contain one '\n' for two head lines. Lines end in '\n' and have no trailing
  // spaces.
  std::string Render() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Returns true if tables keep names whole at any width. The program sets this if stdout is not a terminal, so
// that a program that reads the pipe can search for names.
bool KeepsNamesWhole();
void KeepNamesWhole(bool whole);

inline constexpr size_t kTextColumns = 100;  // width of the tables of a daemon's responses
// Wraps `text` to lines of at most kTextColumns, each after `indent`.
std::string Wrapped(std::string_view text, std::string_view indent);
// Returns the table with the widest names, from `width` columns down to `least`, that fits into kTextColumns.
// Returns the table with whole names if KeepsNamesWhole().
std::string FittedTable(size_t width, size_t least, absl::FunctionRef<std::string(size_t width)> table);

// A progress line that is rewritten on a terminal, at most ten times a second. If stderr is not a terminal,
// it prints nothing.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine() { Clear(); }
  // Shows `what` and `share`, which is in [0, 1].
  void Update(std::string_view what, double share);
  void Clear();

 private:
  bool enabled_;
  bool shown_ = false;
  int64_t last_ms_ = 0;
  int64_t start_ms_ = 0;
};

// Installs a handler for SIGINT and SIGTERM that only sets a flag; a second signal kills the program.
void CatchInterrupts();
bool Interrupted();
// Makes SIGINT and SIGTERM end the program at once with success, for commands that run until they are
// stopped. Flush the output before calling it.
void ExitOnInterrupt();

// The whole terminal for a page that is redrawn repeatedly; keys are read one by one without echo. The
// destructor restores the terminal. Only one Screen may exist at a time, and only if stdin and stdout are
// terminals.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Draws the text from the top of the screen; lines that do not fit are cut off.
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
