#include "common/model/workload.h"

#include <algorithm>
#include <vector>

#include "common/base/strings.h"

namespace taut {
namespace {

constexpr std::string_view kSources[] = {"", "series", "agents", "docker", "kubernetes"};

}  // namespace

std::string_view Name(Source source) { return kSources[static_cast<size_t>(source)]; }

std::optional<Source> ParseSource(std::string_view name) {
  const auto at = std::ranges::find(kSources, name);
  if (at == std::end(kSources)) return std::nullopt;
  return static_cast<Source>(at - std::begin(kSources));
}

std::string Workload::NameWithGroup() const {
  return group.empty() ? name : StrCat(name, std::string_view(&kGroupMark, 1), group);
}

std::string Workload::JobName() const {
  std::string out;
  for (const std::string& text : {cell, namespace_name, kind, NameWithGroup(), container}) {
    if (!text.empty()) StrAppend(&out, out.empty() ? "" : "/", text);
  }
  return out;
}

WorkloadParts::WorkloadParts(Source source, const Sizes& sizes) : WorkloadParts(source) {
  WorkloadParts parts(source);
  parts.cell_ = static_cast<uint8_t>(sizes.cell);
  parts.namespace_ = static_cast<uint8_t>(sizes.namespace_name);
  parts.kind_ = static_cast<uint8_t>(sizes.kind);
  parts.group_ = static_cast<uint8_t>(sizes.group);
  parts.container_ = static_cast<uint8_t>(sizes.container);
  if (parts.sizes() == sizes) *this = parts;
}

WorkloadParts WorkloadParts::Of(const Workload& workload) {
  return {workload.source,
          {workload.cell.size(), workload.namespace_name.size(), workload.kind.size(), workload.group.size(),
           workload.container.size()}};
}

Workload WorkloadParts::In(std::string_view job_name) const {
  Workload out{.source = source()};
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
  // Removes a part of this size and the separator before it.
  const auto back = [&](size_t size, char separator, std::string& to) {
    if (size == 0) return;
    fits = fits && rest.size() > size && rest[rest.size() - size - 1] == separator;
    if (!fits) return;
    to = rest.substr(rest.size() - size);
    rest.remove_suffix(size + 1);
  };
  front(cell_, out.cell);
  front(namespace_, out.namespace_name);
  front(kind_, out.kind);
  back(container_, '/', out.container);
  back(group_, kGroupMark, out.group);
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
  // Names from agents and exporters begin with one of these words.
  if (parts[0] == "docker" || parts[0] == "process" || parts[0] == "machine") return std::nullopt;
  return WithGroupOfStoredName({.source = Source::kKubernetes,
                                .cell = std::string(cell),
                                .namespace_name = std::string(parts[0]),
                                .kind = std::string(parts[1]),
                                .name = std::string(parts[2]),
                                .container = std::string(parts.size() == 4 ? parts[3] : "")});
}

Workload WithGroupOfStoredName(Workload workload) {
  // Only workloads of these kinds are split into groups. The name of any other program may contain kGroupMark.
  const bool may_be_split = workload.source == Source::kKubernetes && workload.group.empty() &&
                            (workload.kind == "daemonset" || workload.kind == "statefulset");
  const size_t mark = may_be_split ? workload.name.find(kGroupMark) : std::string::npos;
  if (mark == std::string::npos || mark == 0 || mark + 1 == workload.name.size()) return workload;
  workload.group = workload.name.substr(mark + 1);
  workload.name.resize(mark);
  return workload;
}

}  // namespace taut
