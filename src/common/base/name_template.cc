#include "common/base/name_template.h"

#include <algorithm>

#include "common/base/strings.h"

namespace taut {
namespace {

constexpr std::string_view kOwner = "owner", kOwnerKind = "owner.kind";

bool IsDerived(std::string_view placeholder) { return placeholder == kOwner || placeholder == kOwnerKind; }

}  // namespace

std::string_view LabelValue(std::span<const LabelView> labels, std::string_view name) {
  for (const LabelView& label : labels) {
    if (label.name == name) return label.value;
  }
  return {};
}

absl::StatusOr<NameTemplate> NameTemplate::Parse(std::string_view text) {
  NameTemplate out;
  while (!text.empty()) {
    const size_t open = text.find('{');
    const std::string_view plain = text.substr(0, open);
    if (plain.find('}') != std::string_view::npos) return absl::InvalidArgumentError("a '}' without its '{'");
    if (!plain.empty()) out.pieces_.push_back({std::string(plain), {}});
    if (open == std::string_view::npos) break;
    const size_t close = text.find('}', open);
    if (close == std::string_view::npos) return absl::InvalidArgumentError("a '{' without its '}'");
    Piece piece;
    std::string_view inside = text.substr(open + 1, close - open - 1);
    piece.optional = inside.ends_with('/');
    if (piece.optional) inside.remove_suffix(1);
    for (const std::string_view label : Split(inside, '|')) {
      if (label.empty() || label.find_first_of("{/") != std::string_view::npos) {
        return absl::InvalidArgumentError(StrCat("no label in '", text.substr(open, close - open + 1), "'"));
      }
      out.uses_owner_ |= IsDerived(label);
      piece.labels.emplace_back(label);
    }
    out.pieces_.push_back(std::move(piece));
    text.remove_prefix(close + 1);
  }
  return out;
}

std::optional<std::string> NameTemplate::Render(std::span<const LabelView> labels, Derived derived) const {
  std::string out;
  for (const Piece& piece : pieces_) {
    if (piece.labels.empty()) {
      out += piece.text;
      continue;
    }
    const size_t before = out.size();
    for (const std::string& label : piece.labels) {
      if (IsDerived(label)) {
        out += derived(label);
      } else {
        out += LabelValue(labels, label);
      }
      if (out.size() > before) break;
    }
    if (out.size() == before && !piece.optional) return std::nullopt;
    if (out.size() == before || !piece.optional) continue;
    // A value must stay one part of the name: a '/' in it would add a level to the hierarchy.
    std::replace(out.begin() + static_cast<std::ptrdiff_t>(before), out.end(), '/', '_');
    out += '/';
  }
  return out;
}

std::optional<std::string> NameTemplate::Render(std::span<const LabelView> labels) const {
  return Render(labels, [labels](std::string_view name) { return std::string(LabelValue(labels, name)); });
}

}  // namespace taut
