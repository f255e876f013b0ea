// Where a command writes: tables and results to stdout, progress and warnings to stderr, colour only on a
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

// Whether colours go to a terminal with these environment variables (nullptr: not set): not with a NO_COLOR
// that is not empty, nor where TERM is dumb.
bool WantsColour(bool is_terminal, const char* no_color, const char* term);
bool StdoutIsTerminal();
bool StderrIsTerminal();

// Writes to stdout; a closed pipe is not an error of ours.
void Print(std::string_view text);
// Sets the name before warnings and errors, which is taut otherwise. Before all threads.
void NameProgram(const char* name);
// The name of the program, as in "taut: ", and the text to stderr; what a terminal may not be given is escaped (common/base/printable.h).
void Warn(std::string_view text);
void PrintError(std::string_view text);
// Prints the error and returns the exit code that belongs to it (tools/cli/cli.h): an invalid argument is a wrong
// command line, what was cancelled is partial.
int Fail(const absl::Status& status);

// A share of 1 as "12.3 %".
std::string Percent(double share, int decimals = 1);

// False for the bytes of a UTF-8 character after its first.
inline bool BeginsCharacter(char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }
// Columns that UTF-8 text takes on a terminal, if each character takes one.
size_t DisplayWidth(std::string_view text);
// At most `width` columns, of which the last is "…" where something was cut.
std::string Shortened(const std::string& text, size_t width);
// The same from the front: of a job's name the end tells more than the begin, which many jobs share.
std::string ShortenedName(const std::string& name, size_t width);

// A text table: the first column left-aligned, the others right-aligned. What a terminal may not be given is
// escaped in every cell, once more without effect.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Heads may hold one '\n': two head lines. Lines end in '\n' and have no trailing spaces.
  std::string Render() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Whether tables keep names whole, whatever their width. The program sets it where stdout is no terminal, so that
// a pipe finds them.
bool KeepsNamesWhole();
void KeepNamesWhole(bool whole);

inline constexpr size_t kTextColumns = 100;  // what the tables of a daemon's answers fit into
// `text` in lines of at most kTextColumns, each after `indent`.
std::string Wrapped(std::string_view text, std::string_view indent);
// The table with the widest names, from `width` columns down to `least`, that fits into kTextColumns; with whole
// names where KeepsNamesWhole.
std::string FittedTable(size_t width, size_t least, absl::FunctionRef<std::string(size_t width)> table);

// One line that is rewritten in place on a terminal, and nothing elsewhere. At most ten times a second.
class ProgressLine {
 public:
  explicit ProgressLine(bool quiet);
  ~ProgressLine() { Clear(); }
  // `share` in [0, 1].
  void Update(std::string_view what, double share);
  void Clear();

 private:
  bool enabled_;
  bool shown_ = false;
  int64_t last_ms_ = 0;
  int64_t start_ms_ = 0;
};

// Installs a handler for SIGINT and SIGTERM that only sets a flag; a second signal kills as usual.
void CatchInterrupts();
bool Interrupted();
// SIGINT and SIGTERM end the program at once, as done: for what has no end of its own. Flush what is printed.
void ExitOnInterrupt();

// The whole terminal for a page that is drawn again and again; keys come one by one, unseen. Puts everything
// back at its end. One at a time, and only if stdin and stdout are terminals.
class Screen {
 public:
  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  // Draws from the top; lines that do not fit are left out.
  void Draw(std::string_view text) const;
  int rows() const;
  // The next key, or 0 if none comes in that time.
  char WaitKey(int milliseconds) const;

  static bool Usable();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace taut::tools
