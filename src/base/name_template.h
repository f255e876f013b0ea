// Names made of labels: "{namespace}/{owner}".
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

// Text with placeholders in braces, taken apart: "{namespace}/{owner}"; {a|b} takes the first that is not
// empty.
class NameTemplate {
 public:
  // InvalidArgument: a brace without its partner, or an empty placeholder.
  static absl::StatusOr<NameTemplate> Parse(std::string_view text);
  // nullopt if a placeholder stays empty. `owner` is asked at most once per {owner}; without it {owner} is a
  // label like any other.
  std::optional<std::string> Render(std::span<const LabelView> labels,
                                    absl::FunctionRef<std::string()> owner) const;
  std::optional<std::string> Render(std::span<const LabelView> labels) const;
  bool uses_owner() const { return uses_owner_; }

 private:
  struct Piece {
    std::string text;                 // if `labels` is empty
    std::vector<std::string> labels;  // the first that is not empty counts
  };
  std::vector<Piece> pieces_;
  bool uses_owner_ = false;
};

}  // namespace taut
