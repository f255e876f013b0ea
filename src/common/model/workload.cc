#include "common/model/workload.h"

#include <algorithm>
#include <array>
#include <vector>

#include "common/base/strings.h"

namespace taut {
namespace {

constexpr std::string_view kSources[] = {"", "series", "agents", "docker", "kubernetes"};

constexpr std::array<std::string Workload::*, 5> kParts = {
    &Workload::cell, &Workload::namespace_name, &Workload::kind, &Workload::name, &Workload::container};

}  // namespace

std::string_view Name(Source source) { return kSources[static_cast<size_t>(source)]; }

std::optional<Source> ParseSource(std::string_view name) {
  const auto at = std::ranges::find(kSources, name);
  if (at == std::end(kSources)) return std::nullopt;
  return static_cast<Source>(at - std::begin(kSources));
}

std::string Workload::JobName() const {
  std::string out;
  for (const auto part : kParts) {
    if (const std::string& text = this->*part; !text.empty()) StrAppend(&out, out.empty() ? "" : "/", text);
  }
  return out;
}

WorkloadParts::WorkloadParts(Source source, const Sizes& sizes) : WorkloadParts(source) {
  WorkloadParts parts(source);
  parts.cell_ = sizes.cell & 127;
  parts.namespace_ = sizes.namespace_name & 127;
  parts.kind_ = sizes.kind & 63;
  parts.container_ = sizes.container & 127;
  if (parts.sizes() == sizes) *this = parts;
}

WorkloadParts WorkloadParts::Of(const Workload& workload) {
  return {workload.source,
          {workload.cell.size(), workload.namespace_name.size(), workload.kind.size(),
           workload.container.size()}};
}

Workload WorkloadParts::In(std::string_view job_name) const {
  Workload out{.source = source()};
  const Sizes part = sizes();
  std::string_view rest = job_name;
  bool fits = true;
  // Moves a part of `size` bytes from `rest` to `to`, and removes the slash behind the part.
  const auto front = [&](size_t size, std::string& to) {
    if (size == 0) return;
    fits = fits && rest.size() > size && rest[size] == '/';
    if (!fits) return;
    to = rest.substr(0, size);
    rest.remove_prefix(size + 1);
  };
  front(part.cell, out.cell);
  front(part.namespace_name, out.namespace_name);
  front(part.kind, out.kind);
  if (part.container > 0) {
    fits = fits && rest.size() > part.container && rest[rest.size() - part.container - 1] == '/';
    if (!fits) return {};
    out.container = rest.substr(rest.size() - part.container);
    rest.remove_suffix(part.container + 1);
  }
  if (!fits || rest.empty()) return {};
  out.name = rest;
  return out;
}

std::optional<Workload> WorkloadOfStoredName(std::string_view job_name, std::string_view cell) {
  std::vector<std::string_view> parts = Split(job_name, '/');
  if (std::ranges::any_of(parts, &std::string_view::empty)) return std::nullopt;
  if (!cell.empty()) {
    if (parts.front() != cell) return std::nullopt;
    parts.erase(parts.begin());
  }
  if (parts.size() != 3 && parts.size() != 4) return std::nullopt;
  // Names from agents and exporters begin with these words.
  if (parts[0] == "docker" || parts[0] == "process" || parts[0] == "machine") return std::nullopt;
  return Workload{.source = Source::kKubernetes,
                  .cell = std::string(cell),
                  .namespace_name = std::string(parts[0]),
                  .kind = std::string(parts[1]),
                  .name = std::string(parts[2]),
                  .container = std::string(parts.size() == 4 ? parts[3] : "")};
}

}  // namespace taut
