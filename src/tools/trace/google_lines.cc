#include "tools/trace/google_lines.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "common/base/strings.h"
#include "tools/trace/csv_header.h"

namespace taut::tools {
namespace {

constexpr size_t kChunk = 256 * 1024;

// Converts bytes to lines, piece by piece.
class LineMaker {
 public:
  virtual ~LineMaker() = default;
  virtual void Take(std::string_view bytes, std::string& out) = 0;
  virtual void Finish(std::string& out) = 0;
};

// Writes each object of a JSON array as one line.
class ArrayLines final : public LineMaker {
 public:
  void Take(std::string_view bytes, std::string& out) override {
    for (const char c : bytes) TakeChar(c, out);
  }
  // The rest of a truncated file becomes a line, which the parser counts as invalid.
  void Finish(std::string& out) override {
    if (depth_ > 0) out += '\n';
  }

 private:
  void TakeChar(char c, std::string& out) {
    if (in_text_) {
      out += c;
      in_text_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
      return;
    }
    if (depth_ == 0 && c != '{') return;  // text between two objects
    if (c == '\n' || c == '\r') return;
    out += c;
    in_text_ = c == '"';
    if (c == '{') ++depth_;
    if (c == '}' && --depth_ == 0) out += '\n';
  }

  int depth_ = 0;
  bool in_text_ = false, escaped_ = false;
};

// Names of nested records. In a flat file, each field of a record is a column, prefixed with the record's name.
constexpr std::array<std::string_view, 5> kRecords = {"resource_request", "average_usage", "maximum_usage",
                                                      "random_sample_usage", "capacity"};

class CsvLines final : public LineMaker {
 public:
  void Take(std::string_view bytes, std::string& out) override {
    while (true) {
      const size_t end = bytes.find('\n');
      line_ += bytes.substr(0, end);
      if (end == std::string_view::npos) return;
      bytes.remove_prefix(end + 1);
      TakeLine(out);
      line_.clear();
    }
  }
  void Finish(std::string& out) override { TakeLine(out); }

 private:
  struct Column {
    std::string record;  // name of the nested record; "": a field at top level
    std::string field;
  };

  static Column ColumnOf(std::string name) {
    for (const std::string_view record : kRecords) {
      if (!name.starts_with(record) || name.size() < record.size() + 2) continue;
      if (name[record.size()] == '.' || name[record.size()] == '_')
        return {std::string(record), name.substr(record.size() + 1)};
    }
    return {"", std::move(name)};
  }
  static void PutText(std::string_view text, std::string& out) {
    out += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') out += '\\';
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
    out += '"';
  }
  void TakeLine(std::string& out) {
    std::string_view line = line_;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (StripSpace(line).empty()) return;
    if (columns_.empty()) {
      separator_ = SeparatorOf(line);
      for (std::string& name : ColumnNames(line)) columns_.push_back(ColumnOf(std::move(name)));
      return;
    }
    SplitLine(line);
    out += '{';
    std::string_view record;
    for (size_t i = 0; i < std::min(columns_.size(), fields_.size()); ++i) {
      const Column& column = columns_[i];
      if (fields_[i].empty() || fields_[i] == "null") continue;
      if (record != column.record && !record.empty()) out += '}';
      if (out.back() != '{') out += ',';
      if (record != column.record && !column.record.empty()) {
        PutText(column.record, out);
        out += ":{";
      }
      record = column.record;
      PutText(column.field, out);
      out += ':';
      PutText(fields_[i], out);
    }
    out += record.empty() ? "}\n" : "}}\n";
  }
  void SplitLine(std::string_view line) {
    fields_.assign(1, "");
    bool quoted = false;
    for (const char c : line) {
      if (c == '"') {
        quoted = !quoted;
      } else if (c == separator_ && !quoted) {
        fields_.emplace_back();
      } else {
        fields_.back() += c;
      }
    }
  }

  std::string line_;
  char separator_ = ',';
  std::vector<Column> columns_;
  std::vector<std::string> fields_;
};

class LinesSource final : public ByteSource {
 public:
  LinesSource(std::unique_ptr<ByteSource> inner, std::unique_ptr<LineMaker> maker)
      : inner_(std::move(inner)), maker_(std::move(maker)), chunk_(kChunk, '\0') {}

  size_t Read(char* out, size_t size) override {
    size_t done = 0;
    while (done < size) {
      if (at_ == lines_.size() && !Refill()) break;
      const size_t n = std::min(size - done, lines_.size() - at_);
      std::memcpy(out + done, lines_.data() + at_, n);
      done += n;
      at_ += n;
    }
    return done;
  }
  uint64_t consumed() const override { return inner_->consumed(); }
  std::string_view damage() const override { return inner_->damage(); }

 private:
  // Fills the buffer with the next converted lines. Returns false at the end of the input.
  bool Refill() {
    lines_.clear();
    at_ = 0;
    while (lines_.empty() && !ended_) {
      const size_t n = inner_->Read(chunk_.data(), chunk_.size());
      maker_->Take({chunk_.data(), n}, lines_);
      ended_ = n < chunk_.size();
      if (ended_) maker_->Finish(lines_);
    }
    return !lines_.empty();
  }

  const std::unique_ptr<ByteSource> inner_;
  const std::unique_ptr<LineMaker> maker_;
  std::string chunk_, lines_;
  size_t at_ = 0;  // position in lines_
  bool ended_ = false;
};

bool IsArrayOfObjects(std::string_view head) {
  const std::string_view text = StripSpace(head);
  return text.starts_with('[') && StripSpace(text.substr(1)).starts_with('{');
}

bool IsGoogleHeader(std::string_view head) {
  const std::vector<std::string> names = ColumnNames(FirstContentLine(head));
  const auto has = [&names](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  const bool of_jobs = has("collection_id") && (has("start_time") || has("time"));
  return of_jobs || (has("machine_id") && has("time") && has("type"));
}

}  // namespace

void ReadAsGoogleLines(InputFile& file) {
  const bool array = IsArrayOfObjects(file.head);
  if (!array && !IsGoogleHeader(file.head)) return;
  const auto maker = [array]() -> std::unique_ptr<LineMaker> {
    if (array) return std::make_unique<ArrayLines>();
    return std::make_unique<CsvLines>();
  };
  std::string head;
  maker()->Take(file.head, head);
  if (head.empty()) return;
  head.resize(std::min(head.size(), kHeadBytes));
  file.head = std::move(head);
  file.open = [open = std::move(file.open), maker]() -> absl::StatusOr<std::unique_ptr<ByteSource>> {
    auto inner = open();
    if (!inner.ok()) return inner.status();
    return std::make_unique<LinesSource>(*std::move(inner), maker());
  };
}

}  // namespace taut::tools
