// A table in memory that other programs read through the Arrow C stream interface.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "arrow_c.h"

namespace taut::python {

// Columns of equal length. A null is an absent optional. Thread-safe once it is built.
class ArrowTable {
 public:
  using Reals = std::vector<std::optional<double>>;
  using Integers = std::vector<std::optional<int64_t>>;
  struct Times {
    std::vector<int64_t> us;  // microseconds since 1970, UTC
  };
  // Texts by number: rows of equal text share one entry of `names`.
  struct Names {
    std::vector<std::string> names;
    std::vector<int32_t> of_row;
  };
  using Texts = std::vector<std::optional<std::string>>;
  struct Bytes {
    std::vector<std::string> values;  // total size below 2 GiB
  };
  using Values = std::variant<Reals, Integers, Times, Names, Texts, Bytes>;

  ArrowTable() = default;
  ArrowTable(ArrowTable&&) = default;
  ArrowTable(const ArrowTable&) = delete;
  ArrowTable& operator=(const ArrowTable&) = delete;

  // REQUIRES: all columns have the same number of rows.
  void Add(std::string name, Values values);
  int64_t rows() const;
  std::vector<std::string> names() const;

  // Sets `out` to a stream of one batch, which shares the buffers of `table`. The receiver releases the stream.
  static void Export(const std::shared_ptr<const ArrowTable>& table, ArrowArrayStream* out);

  // One column in Arrow's layout.
  struct Column {
    std::string name;
    const char* format;
    std::vector<uint8_t> validity;  // bitmap of the rows with a value; empty: no nulls
    int64_t nulls = 0;
    std::vector<int64_t> words;  // values of 8 bytes
    std::vector<int32_t> indices;
    std::unique_ptr<Column> dictionary;
    std::vector<int32_t> ends;  // offset of the end of each text
    std::string bytes;
    int64_t rows = 0;
  };
  const std::vector<Column>& columns() const { return columns_; }

 private:
  std::vector<Column> columns_;
};

}  // namespace taut::python
