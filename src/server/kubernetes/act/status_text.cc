#include "server/kubernetes/act/status_text.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "common/base/strings.h"
#include "common/base/utf8.h"
#include "server/kubernetes/client/quantity.h"

namespace taut::server {
namespace {

constexpr double kStatusMiB = 1024.0 * 1024.0;
constexpr double kMaterial = 0.1;  // maximum ignored difference, as a share of the larger amount

bool IsNearly(double a, double b) {
  return std::abs(a - b) <= kMaterial * std::max(std::abs(a), std::abs(b));
}
constexpr std::string_view kEllipsis = "...";

// Formats an amount as a quantity. Rounds memory up to whole Mi, because byte amounts are unreadable.
std::string ReadableQuantity(Resource r, double amount) {
  return Quantity(r, InCores(r) ? amount : std::ceil(amount / kStatusMiB) * kStatusMiB);
}

void Put(Resource r, const ResourceStatus& of, bool with_reasons, std::string& out) {
  StrAppend(&out, Name(r));
  if (!of.amounts.request.has_value() && !of.amounts.limit.has_value()) {
    StrAppend(&out, " no recommendation yet");
    return;
  }
  if (of.amounts.request.has_value()) StrAppend(&out, " request ", ReadableQuantity(r, *of.amounts.request));
  if (of.amounts.limit.has_value()) StrAppend(&out, " limit ", ReadableQuantity(r, *of.amounts.limit));
  if (!of.state.empty()) StrAppend(&out, " ", of.state);
  if (with_reasons && !of.reason.empty()) StrAppend(&out, " (", of.reason, ")");
}

// Returns the text of the first `shown` containers and the number of omitted containers; "" if the text is too
// long.
std::string TextOf(std::span<const ContainerStatus> containers, size_t shown, bool with_reasons) {
  std::string out;
  for (const ContainerStatus& of : containers.first(shown)) {
    StrAppend(&out, out.empty() ? "" : "; ", of.name.empty() ? "pod" : of.name, " ", Name(of.mode), ": ");
    Put(Resource::kCpu, of.cpu, with_reasons, out);
    out += ", ";
    Put(Resource::kMemory, of.memory, with_reasons, out);
  }
  const size_t more = containers.size() - shown;
  if (more > 0) StrAppend(&out, out.empty() ? "" : "; ", more, " more containers");
  return out.size() <= kMaxStatusBytes ? out : std::string();
}

std::string WithoutReasons(std::string_view text) {
  std::string out;
  int depth = 0;
  for (const char c : text) {
    if (c == '(' && depth++ == 0 && out.ends_with(' ')) out.pop_back();
    if (depth == 0) out += c;
    if (c == ')' && depth > 0) --depth;
  }
  return out;
}

// Returns the words of the text, which are separated by blanks.
std::vector<std::string_view> WordsOf(std::string_view text) {
  std::vector<std::string_view> out;
  for (const std::string_view word : Split(text, ' ')) {
    if (!word.empty()) out.push_back(word);
  }
  return out;
}

std::string_view WithoutEnd(std::string_view word) {
  if (word.ends_with(',') || word.ends_with(';')) word.remove_suffix(1);
  return word;
}

// Returns true if an amount follows this word. After other words, a text that looks like an amount may be the name
// of a container.
bool IsAmountNext(std::string_view word) { return word == "request" || word == "limit"; }

bool IsNear(std::string_view a, std::string_view b) {
  const std::optional<double> one = ParseQuantity(a), other = ParseQuantity(b);
  return one.has_value() && other.has_value() && IsNearly(*one, *other);
}

}  // namespace

std::string_view StateOf(const JobView& job, Resource r, bool on_trial) {
  if (job.mode != Mode::kCanary && job.mode != Mode::kAuto) return "";
  if (!job.enforced) return "dry run";
  if (on_trial) return "on trial";
  const JobAmounts& amounts = job.of(r);
  return amounts.ordered >= 0 && IsNearly(amounts.ordered, amounts.would_be) ? "set" : "waits";
}

std::string StatusText(std::span<const ContainerStatus> containers) {
  if (containers.empty()) return "";
  std::string out = TextOf(containers, containers.size(), true);
  for (size_t shown = containers.size(); out.empty(); --shown) out = TextOf(containers, shown, false);
  return out;
}

bool SaysTheSame(std::string_view a, std::string_view b) {
  const std::string text_a = WithoutReasons(a), text_b = WithoutReasons(b);
  const std::vector<std::string_view> words_a = WordsOf(text_a), words_b = WordsOf(text_b);
  if (words_a.size() != words_b.size()) return false;
  for (size_t i = 0; i < words_a.size(); ++i) {
    const std::string_view one = WithoutEnd(words_a[i]), other = WithoutEnd(words_b[i]);
    if (one == other) continue;
    if (i == 0 || !IsAmountNext(words_a[i - 1]) || !IsNear(one, other)) return false;
  }
  return true;
}

std::string ShortReason(std::string_view sentences) {
  std::string_view first = sentences.substr(0, std::min(sentences.find(". "), sentences.find(", ")));
  if (first.ends_with('.')) first.remove_suffix(1);
  std::string out(first);
  if (out.size() > kMaxStatusReasonBytes)
    out = StrCat(CutUtf8(first, kMaxStatusReasonBytes - kEllipsis.size()), kEllipsis);
  // Parentheses delimit reasons, so a reason must not contain any.
  std::ranges::replace(out, '(', '[');
  std::ranges::replace(out, ')', ']');
  return out;
}

}  // namespace taut::server
