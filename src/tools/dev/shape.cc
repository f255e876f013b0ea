#include "tools/dev/shape.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "common/base/byte_units.h"
#include "common/base/random.h"
#include "common/base/row_named.h"
#include "common/base/strings.h"

namespace taut::tools {
namespace {

constexpr int64_t kSecondUs = 1'000'000;
constexpr double kMaxTimeUs = 10'000.0 * 3600 * kSecondUs;
constexpr int kMostDoublings = 40;

struct Suffix {
  std::string_view name;
  double factor;
};

struct Word {
  std::string_view name;
  LoadShape::Kind kind;
  std::string_view bytes_example, cores_example;
};
constexpr std::array<Word, 9> kWords = {{
    {"", LoadShape::Kind::kConstant, "64MiB", "0.3"},
    {"grow", LoadShape::Kind::kGrow, "grow:32MiB..256MiB/60s", "grow:0.1..0.9/60s"},
    {"double", LoadShape::Kind::kDouble, "double:32MiB/20s or double:32MiB/20sx3", "double:0.1/20sx3"},
    {"leak", LoadShape::Kind::kLeak, "leak:1MiB/s or leak:64MiB+1MiB/s", "leak:0.1/10s"},
    {"spike", LoadShape::Kind::kSpike, "spike:64MiB+200MiB/30s:2s", "spike:0.1+0.8/30s:2s"},
    {"duty", LoadShape::Kind::kDuty, "duty:64MiB/10s:30%", "duty:0.8/100ms:30%"},
    {"step", LoadShape::Kind::kStep, "step:80MiB..400MiB@20s", "step:0.2..0.8@30s"},
    {"fall", LoadShape::Kind::kStep, "fall:400MiB..80MiB@20s", "fall:0.8..0.2@30s"},
    {"day", LoadShape::Kind::kDay, "day:50MiB..200MiB", "day:0.1..0.9"},
}};

// Parses a number with one of the suffixes. Accepts a number without a suffix only if "" is in `suffixes`.
std::optional<double> WithSuffix(std::string_view text, std::span<const Suffix> suffixes, bool bare_unit) {
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  for (const Suffix& s : suffixes) {
    if (text.substr(digits) != s.name) continue;
    if (digits == 0) return bare_unit && !s.name.empty() ? std::optional<double>(s.factor) : std::nullopt;
    const std::optional<double> number = ParseDouble(text.substr(0, digits));
    return number ? std::optional<double>(*number * s.factor) : std::nullopt;
  }
  return std::nullopt;
}

// Parses a shape from left to right, and keeps the first error.
class Reader {
 public:
  Reader(std::string_view text, LoadUnit unit) : rest_(text), unit_(unit) {}

  // Returns the text before the separator, and removes the text and the separator from the input. With "", returns
  // and removes the whole input.
  std::string_view Until(std::string_view separator) {
    const size_t at = separator.empty() ? rest_.size() : rest_.find(separator);
    if (at == std::string_view::npos) {
      Fail(StrCat("missing \"", separator, "\""));
      return {};
    }
    const std::string_view piece = rest_.substr(0, at);
    rest_.remove_prefix(std::min(rest_.size(), at + separator.size()));
    return piece;
  }
  bool Has(std::string_view separator) const { return rest_.find(separator) != std::string_view::npos; }

  double Amount(std::string_view text) {
    static constexpr Suffix kBytes[] = {{"", 1},       {"B", 1},      {"KiB", 1 << 10},
                                        {"MiB", kMiB}, {"GiB", kGiB}, {"TiB", kTiB}};
    static constexpr Suffix kCores[] = {{"", 1}};
    const bool bytes = unit_ == LoadUnit::kBytes;
    const std::optional<double> amount =
        bytes ? WithSuffix(text, kBytes, false) : WithSuffix(text, kCores, false);
    const double most = bytes ? LoadShape::kMaxBytes : LoadShape::kMaxCores;
    if (!amount) {
      Fail(bytes ? StrCat("\"", text, "\" is not an amount of memory; expected one such as 64MiB")
                 : StrCat("\"", text, "\" is not a number of cores; expected one such as 0.3"));
    } else if (*amount > most) {
      Fail(bytes ? StrCat("\"", text, "\" is more than 16TiB")
                 : StrCat("\"", text, "\" is more than 1024 cores"));
    }
    return amount.value_or(0);
  }
  int64_t Time(std::string_view text) {
    const absl::StatusOr<int64_t> us = ParseLoadTimeUs(text);
    if (!us.ok()) Fail(std::string(Message(us.status())));
    return us.ok() ? *us : 1;
  }
  double Percent(std::string_view text) {
    static constexpr Suffix kPercent[] = {{"%", 0.01}};
    const std::optional<double> share = WithSuffix(text, kPercent, false);
    if (!share || *share > 1)
      Fail(StrCat("\"", text, "\" is not a share; expected one such as 30%, at most 100%"));
    return share.value_or(0);
  }
  // Parses a time, or a percentage of `period_us`, and returns microseconds.
  int64_t Length(std::string_view text, int64_t period_us) {
    const int64_t us =
        text.ends_with('%') ? std::llround(Percent(text) * static_cast<double>(period_us)) : Time(text);
    if (us > period_us) Fail(StrCat("\"", text, "\" is longer than the period that contains it"));
    return us;
  }
  void Fail(std::string why) {
    if (why_.empty()) why_ = std::move(why);
  }
  const std::string& why() const { return why_; }

 private:
  std::string_view rest_;
  LoadUnit unit_;
  std::string why_;
};

void ReadForm(Reader& in, LoadShape::Form& form) {
  using Kind = LoadShape::Kind;
  switch (form.kind) {
    case Kind::kConstant:
      form.a = in.Amount(in.Until(""));
      break;
    case Kind::kGrow:
      form.a = in.Amount(in.Until(".."));
      form.b = in.Amount(in.Until("/"));
      form.period_us = in.Time(in.Until(""));
      break;
    case Kind::kDouble: {
      form.a = in.Amount(in.Until("/"));
      form.times = 6;
      const bool said = in.Has("x");
      form.period_us = in.Time(in.Until(said ? "x" : ""));
      if (!said) break;
      const std::string_view text = in.Until("");
      const std::optional<double> times = ParseDouble(text);
      if (times && *times >= 1 && *times <= kMostDoublings && *times == std::floor(*times)) {
        form.times = static_cast<int>(*times);
      } else {
        in.Fail(StrCat("\"", text, "\" is not a number of doublings; expected a whole number from 1 to 40"));
      }
      break;
    }
    case Kind::kLeak:
      if (in.Has("+")) form.a = in.Amount(in.Until("+"));
      form.b = in.Amount(in.Until("/"));
      form.period_us = in.Time(in.Until(""));
      break;
    case Kind::kSpike:
    case Kind::kDuty:
      if (form.kind == Kind::kSpike) form.a = in.Amount(in.Until("+"));
      form.b = in.Amount(in.Until("/"));
      form.period_us = in.Time(in.Until(":"));
      form.length_us = in.Length(in.Until(""), form.period_us);
      break;
    case Kind::kStep:
      form.a = in.Amount(in.Until(".."));
      form.b = in.Amount(in.Until("@"));
      form.period_us = in.Time(in.Until(""));
      break;
    case Kind::kDay:
      form.a = in.Amount(in.Until(".."));
      form.b = in.Amount(in.Until(""));
      break;
  }
}

std::string_view NameOf(LoadUnit unit) { return unit == LoadUnit::kBytes ? "memory" : "cpu"; }
std::string_view ExampleOf(const Word& word, LoadUnit unit) {
  return unit == LoadUnit::kBytes ? word.bytes_example : word.cores_example;
}

absl::Status NoSuchKind(std::string_view text, LoadUnit unit) {
  std::vector<std::string_view> examples;
  for (const Word& word : kWords) examples.push_back(ExampleOf(word, unit));
  return absl::InvalidArgumentError(
      StrCat("\"", text, "\" is not a ", NameOf(unit), " shape; expected ", taut::OneOf(examples)));
}

}  // namespace

absl::StatusOr<int64_t> ParseLoadTimeUs(std::string_view text) {
  static constexpr Suffix kUnits[] = {
      {"", kSecondUs}, {"ms", 1000}, {"s", kSecondUs}, {"m", 60.0 * kSecondUs}, {"h", 3600.0 * kSecondUs}};
  const std::optional<double> us = WithSuffix(text, kUnits, true);
  if (!us || *us < 1 || *us > kMaxTimeUs) {
    return absl::InvalidArgumentError(
        StrCat("\"", text, "\" is not a duration; expected 100ms, 20s, 5m or 1h, at most 10000h"));
  }
  return std::llround(*us);
}

absl::StatusOr<LoadShape> LoadShape::Parse(std::string_view text, LoadUnit unit, const Options& options) {
  Form form;
  Reader noise_reader({}, unit);
  std::string_view plain = text;
  if (const size_t tilde = plain.find('~'); tilde != std::string_view::npos) {
    form.noise = noise_reader.Percent(plain.substr(tilde + 1));
    plain = plain.substr(0, tilde);
  }
  // A ':' also occurs in times such as "30s:2s", but the name of a shape never begins with a digit.
  const size_t colon = plain.find(':');
  const std::string_view name = colon == std::string_view::npos ? std::string_view() : plain.substr(0, colon);
  const auto* const word =
      std::find_if(kWords.begin(), kWords.end(), [name](const Word& w) { return w.name == name; });
  if (word == kWords.end() || (name.empty() && colon == 0)) return NoSuchKind(text, unit);
  if (name.empty() && (plain.empty() || plain.find_first_of("0123456789") != 0))
    return NoSuchKind(text, unit);

  form.kind = word->kind;
  Reader in(name.empty() ? plain : plain.substr(colon + 1), unit);
  ReadForm(in, form);
  if (word->name == "fall" && form.b > form.a) in.Fail("the amount rises: use step:");
  const std::string& why = in.why().empty() ? noise_reader.why() : in.why();
  if (!why.empty()) {
    return absl::InvalidArgumentError(
        StrCat("the ", NameOf(unit), " shape \"", text, "\": ", why, "; example: ", ExampleOf(*word, unit)));
  }
  return LoadShape(form, unit, options);
}

double LoadShape::Smooth(int64_t t_us) const {
  const double periods = static_cast<double>(t_us) / static_cast<double>(form_.period_us);
  switch (form_.kind) {
    case Kind::kConstant:
      return form_.a;
    case Kind::kGrow:
      return form_.a + (form_.b - form_.a) * std::min(1.0, periods);
    case Kind::kDouble:
      return std::ldexp(form_.a, static_cast<int>(std::min<double>(form_.times, std::floor(periods))));
    case Kind::kLeak:
      return form_.a + form_.b * periods;
    case Kind::kSpike:
      return t_us >= form_.period_us && t_us % form_.period_us < form_.length_us ? form_.a + form_.b
                                                                                 : form_.a;
    case Kind::kDuty:
      return t_us % form_.period_us < form_.length_us ? form_.b : 0;
    case Kind::kStep:
      return t_us < form_.period_us ? form_.a : form_.b;
    case Kind::kDay:
      break;
  }
  const double days = static_cast<double>(t_us) / kSecondUs / 86'400 * options_.speed;
  return form_.a + (form_.b - form_.a) * (1 - std::cos(2 * std::numbers::pi * days)) / 2;
}

double LoadShape::At(int64_t t_us) const {
  if (t_us < 0) return 0;
  double amount = Smooth(t_us);
  if (form_.noise > 0) {
    // Each resource has its own noise.
    Rng rng = Rng(options_.seed * 2 + (unit_ == LoadUnit::kCores ? 1 : 0))
                  .Fork(static_cast<uint64_t>(t_us / kSecondUs));
    amount *= 1 + form_.noise * rng.Uniform(-1, 1);
  }
  return std::clamp(amount, 0.0, unit_ == LoadUnit::kBytes ? kMaxBytes : kMaxCores);
}

}  // namespace taut::tools
