#include "brain/replicas/target_expression.h"

#include <muParserBase.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "brain/replicas/ceil_of.h"
#include "common/base/nearest.h"
#include "common/base/strings.h"
#include "common/model/signal_name.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();
constexpr std::string_view kSpanFunctions[] = {"max_over", "avg_over", "p95_over"};
// Functions such as "max(load, 10m)", which accept any signal, in the order of SpanStatistic.
constexpr std::string_view kSignalSpanFunctions[] = {"max", "avg", "p95"};
constexpr std::string_view kFunctions[] = {"min", "max",  "ceil", "floor", "round",
                                           "abs", "sqrt", "ln",   "exp"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool BeginsName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size() && IsSpace(text[at])) ++at;
  return at;
}
// Returns the position after the number that begins at `at`; returns `at` if none begins there.
size_t EndOfNumber(std::string_view text, size_t at, double& value) {
  if (at >= text.size() || (!IsDigit(text[at]) && text[at] != '.')) return at;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  return error == std::errc() ? static_cast<size_t>(end - text.data()) : at;
}
size_t EndOfName(std::string_view text, size_t at) {
  while (at < text.size() && (BeginsName(text[at]) || IsDigit(text[at]))) ++at;
  return at;
}
// Returns the position of the parenthesis that closes the parenthesis at `open`; npos if there is none.
size_t ClosingOf(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && --depth == 0) return i;
  }
  return std::string_view::npos;
}

// Returns the seconds of a duration such as "10m"; nullopt if the text is not a duration.
std::optional<double> SecondsOf(std::string_view text) {
  constexpr std::pair<char, double> kUnits[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
  double number = 0;
  const size_t end = EndOfNumber(text, 0, number);
  if (end == 0 || end + 1 != text.size()) return std::nullopt;
  for (const auto& [letter, seconds] : kUnits) {
    if (letter == text[end]) return number * seconds;
  }
  return std::nullopt;
}

// A parser with only the functions above. No function is random, has state or reads text.
class Parser final : public mu::ParserBase {
 public:
  Parser() {
    AddValIdent(ReadNumber);
    Parser::InitCharSets();
    Parser::InitFun();
    Parser::InitOprt();
  }

  void InitCharSets() override {
    DefineNameChars("0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
    DefineOprtChars("+-*^/?<>=&|!");
    DefineInfixOprtChars("+-");
  }
  void InitFun() override {
    DefineFun("min", Min);
    DefineFun("max", Max);
    DefineFun("ceil", static_cast<mu::fun_type1>(CeilOf));
    DefineFun("floor", static_cast<mu::fun_type1>([](double x) { return std::floor(x); }));
    DefineFun("round", static_cast<mu::fun_type1>([](double x) { return std::round(x); }));
    DefineFun("abs", static_cast<mu::fun_type1>([](double x) { return std::fabs(x); }));
    DefineFun("sqrt", static_cast<mu::fun_type1>([](double x) { return std::sqrt(x); }));
    DefineFun("ln", static_cast<mu::fun_type1>([](double x) { return std::log(x); }));
    DefineFun("exp", static_cast<mu::fun_type1>([](double x) { return std::exp(x); }));
  }
  void InitConst() override {}
  void InitOprt() override {
    DefineInfixOprt("-", static_cast<mu::fun_type1>([](double x) { return -x; }));
    DefineInfixOprt("+", static_cast<mu::fun_type1>([](double x) { return x; }));
  }

 private:
  static int ReadNumber(const char* text, int* at, double* value) {
    const size_t end = EndOfNumber(text, 0, *value);
    *at += static_cast<int>(end);
    return end > 0 ? 1 : 0;
  }
  // Return NaN if a value is NaN.
  static double Min(const double* values, int n) {
    return Best(values, n, [](double a, double b) { return a < b; });
  }
  static double Max(const double* values, int n) {
    return Best(values, n, [](double a, double b) { return a > b; });
  }
  template <typename Better>
  static double Best(const double* values, int n, Better better) {
    double best = n > 0 ? values[0] : kNotANumber;
    for (int i = 1; i < n; ++i) best = std::isnan(values[i]) || better(values[i], best) ? values[i] : best;
    return std::any_of(values, values + n, [](double v) { return std::isnan(v); }) ? kNotANumber : best;
  }
};

absl::Status BadAt(size_t at, std::string_view what) {
  return absl::InvalidArgumentError(StrCat("character ", at + 1, ": ", what));
}

std::string_view Describe(mu::EErrorCodes code) {
  switch (code) {
    case mu::ecUNEXPECTED_EOF:
      return "it ends where a value is expected";
    case mu::ecMISSING_PARENS:
      return "a parenthesis is not closed";
    case mu::ecUNEXPECTED_PARENS:
      return "unexpected parenthesis";
    case mu::ecTOO_MANY_PARAMS:
      return "too many arguments";
    case mu::ecTOO_FEW_PARAMS:
      return "too few arguments";
    case mu::ecUNEXPECTED_ARG_SEP:
    case mu::ecUNEXPECTED_ARG:
      return "unexpected comma: only the arguments of a function are separated by commas";
    case mu::ecUNEXPECTED_VAL:
    case mu::ecUNEXPECTED_VAR:
    case mu::ecUNEXPECTED_FUN:
      return "expected an operator before this value";
    case mu::ecUNEXPECTED_OPERATOR:
      return "expected a value before this operator";
    case mu::ecMISSING_ELSE_CLAUSE:
      return "\"?\" without \":\"";
    case mu::ecUNEXPECTED_CONDITIONAL:
    case mu::ecMISPLACED_COLON:
      return "unexpected \"?\" or \":\"";
    default:
      return "unexpected text";
  }
}

absl::Status ToStatus(const mu::ParserError& error, std::string_view text) {
  const size_t at =
      error.GetPos() >= 0 ? std::min(static_cast<size_t>(error.GetPos()), text.size()) : text.size();
  const std::string token = error.GetToken();
  const bool shown = !token.empty() && token.front() != '_' && text.find(token) != std::string_view::npos;
  return BadAt(at, shown ? StrCat(Describe(error.GetCode()), ", \"", token, "\"")
                         : std::string(Describe(error.GetCode())));
}

// Returns the value of a text without names of signals; nullopt if the text is not a constant.
std::optional<double> Constant(std::string_view text) {
  if (StripSpace(text).empty()) return std::nullopt;
  try {
    Parser parser;
    parser.SetExpr(std::string(text));
    int results = 0;
    const double* const value = parser.Eval(results);
    return results == 1 ? std::optional(value[0]) : std::nullopt;
  } catch (const mu::ParserError&) {
    return std::nullopt;
  }
}

// Checks the characters, the length and the nesting before any parsing.
absl::Status CheckForm(std::string_view text) {
  if (text.empty())
    return absl::InvalidArgumentError("expected an expression, such as load / (0.7 * capacity)");
  if (text.size() > TargetExpression::kMostCharacters) {
    return absl::InvalidArgumentError(
        StrCat(text.size(), " characters: expected at most ", TargetExpression::kMostCharacters));
  }
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!IsSpace(c) && !IsDigit(c) && !BeginsName(c) &&
        std::string_view("+-*/^?:<>=!&|(),.").find(c) == std::string_view::npos)
      return BadAt(i, "expected a name, a number, one of + - * / ^ ( ) , ? : < <= > >= == != && ||");
    if (c == '(' && ++depth > TargetExpression::kMostNesting)
      return BadAt(i, StrCat("more than ", TargetExpression::kMostNesting, " parentheses within each other"));
    if (c == ')') --depth;
    if (c != '=') continue;
    const bool second = i > 0 && std::string_view("<>=!").find(text[i - 1]) != std::string_view::npos;
    if (!second && (i + 1 == text.size() || text[i + 1] != '='))
      return BadAt(i, "\"=\" would assign a value: expected \"==\" to compare");
  }
  return absl::OkStatus();
}

absl::Status UnknownName(std::string_view name, size_t at, std::span<const std::string> signals) {
  std::vector<std::string_view> names(kTargetSignals.begin(), kTargetSignals.end());
  names.insert(names.end(), kOwnSignals.begin(), kOwnSignals.end());
  names.insert(names.end(), signals.begin(), signals.end());
  names.insert(names.end(), std::begin(kSpanFunctions), std::end(kSpanFunctions));
  names.insert(names.end(), std::begin(kFunctions), std::end(kFunctions));
  names.insert(names.end(), std::begin(kSignalSpanFunctions) + 1, std::end(kSignalSpanFunctions));
  const std::string nearest = NearestName(name, names);
  return BadAt(at, StrCat("unknown name \"", name.substr(0, 40), "\"; did you mean \"", nearest,
                          "\"? There are ", Join(names, ", ")));
}

// Returns the position of a division by a constant 0; npos if there is none.
size_t DivisionByZero(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '/') continue;
    const size_t begin = SkipSpace(text, i + 1);
    double value = kNotANumber;
    if (begin < text.size() && text[begin] == '(') {
      const size_t end = ClosingOf(text, begin);
      if (end != std::string_view::npos)
        value = Constant(text.substr(begin, end + 1 - begin)).value_or(kNotANumber);
    } else {
      EndOfNumber(text, begin, value);
    }
    if (value == 0) return i;
  }
  return std::string_view::npos;
}

}  // namespace

struct TargetExpression::Parsed {
  std::string text;
  std::vector<std::string> signals;
  std::vector<LoadSpan> spans;
  bool reads_load = false;
  bool reads_capacity = false;
  bool is_constant = true;  // true if the only names of the expression are functions
  // Values of numbers, named signals and spans; the parser refers to these values.
  std::array<double, kTargetSignals.size() + kMostSignals + kMostSpans> values{};
  Parser parser;

  // Replaces "max_over(60)" by a variable's name and blanks, so that positions in errors stay correct.
  absl::Status TakeNames(std::span<const std::string> known, std::string& rewritten);
  absl::Status TakeSpan(size_t statistic, size_t begin, size_t open, std::string& rewritten);
  // Replaces a span such as "max(queue_length, 10m)". Returns false for an ordinary call of the function.
  absl::StatusOr<bool> TakeSignalSpan(size_t begin, size_t open, std::span<const std::string> known,
                                      std::string& rewritten);
  absl::Status AddSpan(const LoadSpan& span, size_t begin, size_t close, std::string& rewritten);
  // Returns the signal's index, negative for the load. Returns an error with position `at` for an unknown name.
  absl::StatusOr<int> TakeSignal(std::string_view name, size_t at, std::span<const std::string> known);
  absl::Status CheckConstants() const;
};

absl::StatusOr<int> TargetExpression::Parsed::TakeSignal(std::string_view name, size_t at,
                                                         std::span<const std::string> known) {
  if (name == kTargetSignals[0]) {
    reads_load = true;
    return -1;
  }
  if (std::ranges::find(kOwnSignals, name) == kOwnSignals.end() &&
      std::ranges::find(known, name) == known.end())
    return UnknownName(name, at, known);
  const auto place = static_cast<size_t>(std::ranges::find(signals, name) - signals.begin());
  if (place == kMostSignals) return BadAt(at, StrCat("more than ", kMostSignals, " signals"));
  if (place == signals.size()) signals.emplace_back(name);
  return static_cast<int>(place);
}

absl::Status TargetExpression::Parsed::TakeNames(std::span<const std::string> known, std::string& rewritten) {
  for (size_t i = 0; i < text.size();) {
    double number = 0;
    if (const size_t end = EndOfNumber(text, i, number); end > i) {
      i = end;
      continue;
    }
    if (!BeginsName(text[i])) {
      ++i;
      continue;
    }
    const size_t end = EndOfName(text, i);
    const std::string_view name = std::string_view(text).substr(i, end - i);
    const size_t next = SkipSpace(text, end);
    const bool called = next < text.size() && text[next] == '(';
    is_constant = is_constant && std::ranges::find(kFunctions, name) != std::end(kFunctions);
    const auto* const span = std::ranges::find(kSpanFunctions, name);
    if (span != std::end(kSpanFunctions)) {
      if (!called) return BadAt(i, StrCat("expected ", name, "(minutes)"));
      const absl::Status s =
          TakeSpan(static_cast<size_t>(span - std::begin(kSpanFunctions)), i, next, rewritten);
      if (!s.ok()) return s;
      i = ClosingOf(text, next) + 1;
      continue;
    }
    if (called && std::ranges::find(kSignalSpanFunctions, name) != std::end(kSignalSpanFunctions)) {
      const absl::StatusOr<bool> taken = TakeSignalSpan(i, next, known, rewritten);
      if (!taken.ok()) return taken.status();
      if (*taken) {
        i = ClosingOf(text, next) + 1;
        continue;
      }
    }
    if (std::ranges::find(kFunctions, name) != std::end(kFunctions)) {
      if (!called) return BadAt(i, StrCat("\"", name, "\" is a function: expected \"(\" after it"));
      if (const size_t first = SkipSpace(text, next + 1); first < text.size() && text[first] == ')')
        return BadAt(first, StrCat("too few arguments, \"", name, "\""));
    } else if (name == kTargetSignals[1]) {
      reads_capacity = true;
    } else if (name == kTargetSignals[0] || std::ranges::find(kTargetSignals, name) == kTargetSignals.end()) {
      if (absl::Status s = TakeSignal(name, i, known).status(); !s.ok()) return s;
    }
    i = end;
  }
  return absl::OkStatus();
}

absl::Status TargetExpression::Parsed::TakeSpan(size_t statistic, size_t begin, size_t open,
                                                std::string& rewritten) {
  const std::string_view name = kSpanFunctions[statistic];
  const size_t close = ClosingOf(text, open);
  if (close == std::string::npos) return BadAt(open, "a parenthesis is not closed");
  const std::string_view argument = std::string_view(text).substr(open + 1, close - open - 1);
  const std::optional<double> minutes = Constant(argument);
  if (!minutes.has_value() || !(*minutes >= 1 && *minutes <= kMostMinutes)) {
    return BadAt(open + 1, StrCat("invalid argument \"", argument, "\" of ", name,
                                  ": expected one constant number of minutes from 1 to ", kMostMinutes));
  }
  reads_load = true;
  return AddSpan({static_cast<SpanStatistic>(statistic), std::llround(*minutes * 60)}, begin, close,
                 rewritten);
}

absl::StatusOr<bool> TargetExpression::Parsed::TakeSignalSpan(size_t begin, size_t open,
                                                              std::span<const std::string> known,
                                                              std::string& rewritten) {
  const std::string_view name = std::string_view(text).substr(begin, EndOfName(text, begin) - begin);
  const auto* const found = std::ranges::find(kSignalSpanFunctions, name);
  const size_t close = ClosingOf(text, open);
  const std::string_view arguments = close == std::string::npos
                                         ? std::string_view()
                                         : std::string_view(text).substr(open + 1, close - open - 1);
  const size_t comma = arguments.find(',');
  const std::string_view signal = StripSpace(arguments.substr(0, comma));
  const std::optional<double> seconds =
      comma == std::string_view::npos ? std::nullopt : SecondsOf(StripSpace(arguments.substr(comma + 1)));
  if (!seconds.has_value()) {
    if (name == "max") return false;
    return BadAt(begin, StrCat("expected ", name, "(SIGNAL, TIME), such as ", name, "(cpu, 5m)"));
  }
  const size_t at = SkipSpace(text, open + 1);
  if (!(*seconds >= 60 && *seconds <= kMostMinutes * 60.0))
    return BadAt(at, StrCat("invalid time of ", name, "(", arguments, "): expected 1m to 14d"));
  if (signal.empty() || EndOfName(signal, 0) != signal.size())
    return BadAt(at, StrCat("expected the name of a signal in ", name, "(", arguments, ")"));
  if (std::ranges::find(kTargetSignals.begin() + 1, kTargetSignals.end(), signal) != kTargetSignals.end())
    return BadAt(at, StrCat("\"", signal, "\" has no past: expected load or a named signal"));
  const absl::StatusOr<int> place = TakeSignal(signal, at, known);
  if (!place.ok()) return place.status();
  const auto statistic = static_cast<SpanStatistic>(found - std::begin(kSignalSpanFunctions));
  const absl::Status added = AddSpan({statistic, std::llround(*seconds), *place}, begin, close, rewritten);
  return added.ok() ? absl::StatusOr<bool>(true) : added;
}

absl::Status TargetExpression::Parsed::AddSpan(const LoadSpan& span, size_t begin, size_t close,
                                               std::string& rewritten) {
  const auto at = static_cast<size_t>(std::ranges::find(spans, span) - spans.begin());
  if (at == kMostSpans)
    return BadAt(begin, StrCat("more than ", kMostSpans, " different spans of past load"));
  if (at == spans.size()) spans.push_back(span);
  std::string variable = StrCat("_", at);
  variable.resize(close + 1 - begin, ' ');
  rewritten.replace(begin, variable.size(), variable);
  return absl::OkStatus();
}

absl::Status TargetExpression::Parsed::CheckConstants() const {
  const mu::ParserByteCode& code = parser.GetByteCode();
  bool divides = false, overflows = false;
  for (size_t i = 0; i < code.GetSize(); ++i) {
    const mu::SToken& token = code.GetBase()[i];
    const bool value = token.Cmd == mu::cmVAL || token.Cmd == mu::cmVARMUL;
    overflows =
        overflows || (token.Cmd == mu::cmVAL && !std::isfinite(token.Val.data2)) ||
        (token.Cmd == mu::cmVARMUL && !(std::isfinite(token.Val.data) && std::isfinite(token.Val.data2)));
    const bool next_divides = i + 1 < code.GetSize() && code.GetBase()[i + 1].Cmd == mu::cmDIV;
    divides = divides || (value && token.Cmd == mu::cmVAL && next_divides && token.Val.data2 == 0);
  }
  const size_t at = DivisionByZero(text);
  if (at != std::string_view::npos) return BadAt(at, "division by zero");
  if (divides) return absl::InvalidArgumentError("a division by zero");
  if (overflows) return absl::InvalidArgumentError("a constant part of it is not a finite number");
  return absl::OkStatus();
}

absl::StatusOr<TargetExpression> TargetExpression::Parse(std::string_view text,
                                                         std::span<const std::string> signals) {
  text = StripSpace(text);
  if (absl::Status s = CheckForm(text); !s.ok()) return s;
  auto parsed = std::make_unique<Parsed>();
  parsed->text = text;
  std::string rewritten(text);
  std::ranges::replace_if(rewritten, IsSpace, ' ');
  if (absl::Status s = parsed->TakeNames(signals, rewritten); !s.ok()) return s;
  try {
    for (size_t i = 0; i < kTargetSignals.size(); ++i)
      parsed->parser.DefineVar(std::string(kTargetSignals[i]), &parsed->values[i]);
    for (size_t i = 0; i < parsed->signals.size(); ++i)
      parsed->parser.DefineVar(parsed->signals[i], &parsed->values[kTargetSignals.size() + i]);
    for (size_t i = 0; i < parsed->spans.size(); ++i)
      parsed->parser.DefineVar(StrCat("_", i), &parsed->values[kTargetSignals.size() + kMostSignals + i]);
    parsed->parser.SetExpr(rewritten);
    int results = 0;
    const double value = parsed->parser.Eval(results)[results - 1];
    if (results != 1)
      return absl::InvalidArgumentError(StrCat(results, " values separated by commas: expected one"));
    if (absl::Status s = parsed->CheckConstants(); !s.ok()) return s;
    if (parsed->is_constant && !(std::isfinite(value) && value >= 0))
      return BadAt(0,
                   fmt::format("the value is always {:.6g}: expected a number of tasks, 0 or more", value));
  } catch (const mu::ParserError& error) {
    return ToStatus(error, text);
  }
  return TargetExpression(std::move(parsed));
}

TargetExpression::TargetExpression(std::unique_ptr<Parsed> parsed) : parsed_(std::move(parsed)) {}
TargetExpression::TargetExpression(TargetExpression&&) noexcept = default;
TargetExpression& TargetExpression::operator=(TargetExpression&&) noexcept = default;
TargetExpression::~TargetExpression() = default;

const std::string& TargetExpression::text() const { return parsed_->text; }
std::span<const LoadSpan> TargetExpression::spans() const { return parsed_->spans; }
std::span<const std::string> TargetExpression::signals() const { return parsed_->signals; }
bool TargetExpression::reads_load() const { return parsed_->reads_load; }
bool TargetExpression::reads_capacity() const { return parsed_->reads_capacity; }

double TargetExpression::Evaluate(const TargetSignals& numbers, std::span<const double> named,
                                  std::span<const double> spans) {
  auto* const values = parsed_->values.data();
  std::ranges::copy(numbers, values);
  std::ranges::copy(named, values + kTargetSignals.size());
  std::ranges::copy(spans, values + kTargetSignals.size() + kMostSignals);
  try {
    return parsed_->parser.Eval();
  } catch (const mu::ParserError&) {
    return kNotANumber;
  }
}

size_t TargetExpression::bytes() const {
  // Estimates the memory of the parser's tables of names, some 150 bytes per node, and of the parser's code.
  constexpr size_t kNames = std::size(kFunctions) + kTargetSignals.size() + 2;
  const Parsed& p = *parsed_;
  return sizeof(*this) + sizeof(p) + 2 * p.text.capacity() + p.spans.capacity() * sizeof(LoadSpan) +
         (kNames + p.spans.size() + p.signals.size()) * 150 +
         p.parser.GetByteCode().GetSize() * sizeof(mu::SToken);
}

}  // namespace taut::brain
