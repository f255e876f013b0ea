#include "arrow_table.h"

#include <bit>
#include <iterator>
#include <utility>

namespace taut::python {
namespace {

using Column = ArrowTable::Column;
using Shared = std::shared_ptr<const ArrowTable>;

// Copies the values to `words`, and marks the rows with a value in `validity`.
template <typename T>
void Fill(const std::vector<std::optional<T>>& values, Column& out) {
  out.rows = static_cast<int64_t>(values.size());
  out.words.resize(values.size());
  out.validity.assign((values.size() + 7) / 8, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    if (!values[i].has_value()) {
      ++out.nulls;
      continue;
    }
    out.words[i] = std::bit_cast<int64_t>(*values[i]);
    out.validity[i / 8] = static_cast<uint8_t>(out.validity[i / 8] | (1U << (i % 8)));
  }
  if (out.nulls == 0) out.validity.clear();
}

void Fill(const ArrowTable::Texts& texts, Column& out) {
  out.format = "u";
  out.ends = {0};
  std::vector<std::optional<int64_t>> present;
  for (const std::optional<std::string>& text : texts) {
    out.bytes += text.value_or("");
    out.ends.push_back(static_cast<int32_t>(out.bytes.size()));
    present.push_back(text.has_value() ? std::optional<int64_t>(0) : std::nullopt);
  }
  Fill(present, out);
}

// ---- exported structs: each owns its children and the table that contains its buffers ----

struct SchemaParts {
  std::vector<std::unique_ptr<ArrowSchema>> children;
  std::vector<ArrowSchema*> pointers;
  std::unique_ptr<ArrowSchema> dictionary;
  Shared table;  // owns the names
};

void ReleaseSchema(ArrowSchema* schema) {
  auto* parts = static_cast<SchemaParts*>(schema->private_data);
  for (const auto& child : parts->children) {
    if (child->release != nullptr) child->release(child.get());
  }
  if (parts->dictionary && parts->dictionary->release != nullptr)
    parts->dictionary->release(parts->dictionary.get());
  delete parts;
  schema->release = nullptr;
}

std::unique_ptr<SchemaParts> PutSchema(const Column& column, const Shared& table, ArrowSchema* out) {
  auto parts = std::make_unique<SchemaParts>();
  parts->table = table;
  *out = {};
  out->format = column.dictionary ? "i" : column.format;
  out->name = column.name.c_str();
  out->flags = ARROW_FLAG_NULLABLE;
  out->release = ReleaseSchema;
  return parts;
}

void ExportSchema(const Column& column, const Shared& table, ArrowSchema* out) {
  auto parts = PutSchema(column, table, out);
  if (column.dictionary) {
    parts->dictionary = std::make_unique<ArrowSchema>();
    ExportSchema(*column.dictionary, table, parts->dictionary.get());
    out->dictionary = parts->dictionary.get();
  }
  out->private_data = parts.release();
}

struct ArrayParts {
  std::vector<std::unique_ptr<ArrowArray>> children;
  std::vector<ArrowArray*> pointers;
  std::unique_ptr<ArrowArray> dictionary;
  std::vector<const void*> buffers;
  Shared table;
};

void ReleaseArray(ArrowArray* array) {
  auto* parts = static_cast<ArrayParts*>(array->private_data);
  for (const auto& child : parts->children) {
    if (child->release != nullptr) child->release(child.get());
  }
  if (parts->dictionary && parts->dictionary->release != nullptr)
    parts->dictionary->release(parts->dictionary.get());
  delete parts;
  array->release = nullptr;
}

void Seal(std::unique_ptr<ArrayParts> parts, ArrowArray* out) {
  out->n_buffers = static_cast<int64_t>(parts->buffers.size());
  out->buffers = parts->buffers.data();
  out->n_children = static_cast<int64_t>(parts->pointers.size());
  out->children = parts->pointers.empty() ? nullptr : parts->pointers.data();
  out->dictionary = parts->dictionary.get();
  out->release = ReleaseArray;
  out->private_data = parts.release();
}

void ExportArray(const Column& column, const Shared& table, ArrowArray* out) {
  auto parts = std::make_unique<ArrayParts>();
  parts->table = table;
  *out = {};
  out->length = column.rows;
  out->null_count = column.nulls;
  parts->buffers.push_back(column.validity.empty() ? nullptr : column.validity.data());
  if (column.dictionary) {
    parts->buffers.push_back(column.indices.data());
    parts->dictionary = std::make_unique<ArrowArray>();
    ExportArray(*column.dictionary, table, parts->dictionary.get());
  } else if (!column.ends.empty()) {
    parts->buffers.push_back(column.ends.data());
    parts->buffers.push_back(column.bytes.data());
  } else {
    parts->buffers.push_back(column.words.data());
  }
  Seal(std::move(parts), out);
}

struct StreamParts {
  Shared table;
  bool is_read = false;
};

int GetSchema(ArrowArrayStream* stream, ArrowSchema* out) {
  const Shared& table = static_cast<StreamParts*>(stream->private_data)->table;
  static const Column kRoot = [] {
    Column root;
    root.format = "+s";
    return root;
  }();
  auto parts = PutSchema(kRoot, table, out);
  for (const Column& column : table->columns()) {
    ExportSchema(column, table, parts->children.emplace_back(std::make_unique<ArrowSchema>()).get());
    parts->pointers.push_back(parts->children.back().get());
  }
  out->flags = 0;
  out->n_children = static_cast<int64_t>(parts->pointers.size());
  out->children = parts->pointers.data();
  out->private_data = parts.release();
  return 0;
}

int GetNext(ArrowArrayStream* stream, ArrowArray* out) {
  auto* of = static_cast<StreamParts*>(stream->private_data);
  *out = {};
  if (std::exchange(of->is_read, true)) return 0;
  auto parts = std::make_unique<ArrayParts>();
  parts->table = of->table;
  parts->buffers.push_back(nullptr);
  for (const Column& column : of->table->columns()) {
    ExportArray(column, of->table, parts->children.emplace_back(std::make_unique<ArrowArray>()).get());
    parts->pointers.push_back(parts->children.back().get());
  }
  out->length = of->table->rows();
  Seal(std::move(parts), out);
  return 0;
}

void ReleaseStream(ArrowArrayStream* stream) {
  delete static_cast<StreamParts*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void ArrowTable::Add(std::string name, Values values) {
  Column& out = columns_.emplace_back();
  out.name = std::move(name);
  if (const auto* reals = std::get_if<Reals>(&values)) {
    out.format = "g";
    Fill(*reals, out);
  } else if (const auto* integers = std::get_if<Integers>(&values)) {
    out.format = "l";
    Fill(*integers, out);
  } else if (auto* times = std::get_if<Times>(&values)) {
    out.format = "tsu:UTC";
    out.rows = static_cast<int64_t>(times->us.size());
    out.words = std::move(times->us);
  } else if (const auto* own = std::get_if<Texts>(&values)) {
    Fill(*own, out);
  } else if (auto* bytes = std::get_if<Bytes>(&values)) {
    Fill(Texts(std::make_move_iterator(bytes->values.begin()), std::make_move_iterator(bytes->values.end())),
         out);
    out.format = "z";
  } else {
    auto& texts = std::get<Names>(values);
    out.format = "u";
    out.rows = static_cast<int64_t>(texts.of_row.size());
    out.indices = std::move(texts.of_row);
    out.dictionary = std::make_unique<Column>();
    Fill(Texts(texts.names.begin(), texts.names.end()), *out.dictionary);
  }
}

int64_t ArrowTable::rows() const { return columns_.empty() ? 0 : columns_.front().rows; }

std::vector<std::string> ArrowTable::names() const {
  std::vector<std::string> out;
  for (const Column& column : columns_) out.push_back(column.name);
  return out;
}

void ArrowTable::Export(const Shared& table, ArrowArrayStream* out) {
  *out = {};
  out->get_schema = GetSchema;
  out->get_next = GetNext;
  out->get_last_error = [](ArrowArrayStream*) -> const char* { return nullptr; };
  out->release = ReleaseStream;
  out->private_data = new StreamParts{table, false};
}

}  // namespace taut::python
