#include "arrow_stream.h"

#include <cstring>

#include "common/base/strings.h"

namespace taut::python {
namespace {

struct Owned {
  ArrowSchema schema{};
  ArrowArray array{};
  void ReleaseArray() {
    if (array.release != nullptr) array.release(&array);
    array = {};
  }
  ~Owned() {
    ReleaseArray();
    if (schema.release != nullptr) schema.release(&schema);
  }
};

absl::Status StreamError(ArrowArrayStream& stream, int code) {
  const char* const text = stream.get_last_error(&stream);
  return absl::UnavailableError(
      StrCat("the Arrow stream failed: ", text != nullptr ? text : std::strerror(code)));
}

}  // namespace

absl::Status ReadStream(ArrowArrayStream& stream,
                        const std::function<absl::Status(const ArrowSchema&)>& begin,
                        const std::function<absl::Status(const ArrowArray&)>& take) {
  Owned owned;
  if (const int code = stream.get_schema(&stream, &owned.schema); code != 0) return StreamError(stream, code);
  if (absl::Status s = begin(owned.schema); !s.ok()) return s;
  while (true) {
    if (const int code = stream.get_next(&stream, &owned.array); code != 0) return StreamError(stream, code);
    if (owned.array.release == nullptr) return absl::OkStatus();
    const absl::Status taken = take(owned.array);
    owned.ReleaseArray();
    if (!taken.ok()) return taken;
  }
}

nanobind::capsule StreamOf(const std::shared_ptr<const ArrowTable>& table) {
  auto* stream = new ArrowArrayStream;
  ArrowTable::Export(table, stream);
  return nanobind::steal<nanobind::capsule>(
      PyCapsule_New(stream, "arrow_array_stream", [](PyObject* capsule) {
        auto* owned = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule, "arrow_array_stream"));
        if (owned->release != nullptr) owned->release(owned);
        delete owned;
      }));
}

}  // namespace taut::python
