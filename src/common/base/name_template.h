// Templates that build names from labels: "{cluster/}{namespace}/{owner}".
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"

namespace taut {

struct LabelView {
  std::string_view name;
  std::string_view value;
};
// Returns the value of a label; "" if the label is absent. O(labels).
std::string_view LabelValue(std::span<const LabelView> labels, std::string_view name);
// Label that contains the name of a series' metric.
inline constexpr std::string_view kMetricNameLabel = "__name__";

// Text with placeholders in braces: "{namespace}/{owner}". {a|b} becomes the value of label a, or the value of
// label b if label a is empty. A placeholder that ends in '/' is optional: it becomes the value (with '_' for each
// '/') and a '/', or nothing if the value is empty.
class NameTemplate {
 public:
  // Function that returns the value of "owner" or "owner.kind", which are computed from a pod's owner and are not
  // labels.
  using Derived = absl::FunctionRef<std::string(std::string_view placeholder)>;

  // Parses a template. InvalidArgument for an unpaired brace or an empty placeholder.
  static absl::StatusOr<NameTemplate> Parse(std::string_view text);
  // Returns the name; nullopt if a placeholder that is not optional is empty.
  std::optional<std::string> Render(std::span<const LabelView> labels, Derived derived) const;
  // Renders for a source without owners: {owner} is read as an ordinary label.
  std::optional<std::string> Render(std::span<const LabelView> labels) const;
  bool uses_owner() const { return uses_owner_; }

 private:
  struct Piece {
    std::string text;                 // literal text, if `labels` is empty
    std::vector<std::string> labels;  // alternatives: the first that is not empty is used
    bool optional = false;            // true: becomes the value and a '/', or nothing
  };
  std::vector<Piece> pieces_;
  bool uses_owner_ = false;
};

}  // namespace taut
