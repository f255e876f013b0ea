// Where a command writes: tables and results to stdout, progress and warnings to stderr, colour only on a
// terminal.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taut {

bool StdoutIsTerminal();
bool StderrIsTerminal();

// Writes to stdout; a closed pipe is not an error of ours.
void Print(std::string_view text);
// "taut: " and the text to stderr, one line.
void Warn(std::string_view text);
void PrintError(std::string_view text);

// A text table: the first column left-aligned, the others right-aligned.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> head) : rows_{std::move(head)} {}
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Heads may hold one '\n': two head lines. Lines end in '\n' and have no trailing spaces.
  std::string Render() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

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

}  // namespace taut
