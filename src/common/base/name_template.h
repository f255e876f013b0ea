// Names made of labels: "{cluster/}{namespace}/{owner}".
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
// The value of a label, "" if it is not there.
std::string_view LabelValue(std::span<const LabelView> labels, std::string_view name);
// The label of a series that is its metric's name.
inline constexpr std::string_view kMetricNameLabel = "__name__";

// Text with placeholders in braces: "{namespace}/{owner}"; {a|b} takes the first label that is not empty. A
// placeholder that ends in '/' is optional: the value, with '_' for each '/' in it, and a '/'; or nothing.
class NameTemplate {
 public:
  // {owner} and {owner.kind} are no labels: a function gives their values by these names.
  using Derived = absl::FunctionRef<std::string(std::string_view placeholder)>;

  // InvalidArgument: a brace without its partner, or an empty placeholder.
  static absl::StatusOr<NameTemplate> Parse(std::string_view text);
  // nullopt if a placeholder that is not optional stays empty.
  std::optional<std::string> Render(std::span<const LabelView> labels, Derived derived) const;
  // The same where owners are not known: {owner} is a label like any other.
  std::optional<std::string> Render(std::span<const LabelView> labels) const;
  bool uses_owner() const { return uses_owner_; }

 private:
  struct Piece {
    std::string text;                 // if `labels` is empty
    std::vector<std::string> labels;  // the first that is not empty counts
    bool optional = false;            // its value and a '/', or nothing
  };
  std::vector<Piece> pieces_;
  bool uses_owner_ = false;
};

}  // namespace taut
