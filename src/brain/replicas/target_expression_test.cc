#include "brain/replicas/target_expression.h"

#include <cmath>

#include "brain/replicas/settings.h"
#include "common/model/signal_name.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace taut::brain {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::string> kNamed = {"queue_length", "requests"};

// Evaluates `text` with load 30, capacity 2, 9 ready and 3 starting tasks, on Wednesday at 14:00. The value of a
// named signal is its index plus 50, the value of a span its index plus 100.
double Value(std::string_view text) {
  absl::StatusOr<TargetExpression> e = TargetExpression::Parse(text, kNamed);
  EXPECT_TRUE(e.ok()) << text << ": " << e.status();
  if (!e.ok()) return NAN;
  std::vector<double> named, spans;
  for (size_t i = 0; i < e->signals().size(); ++i) named.push_back(50.0 + static_cast<double>(i));
  for (size_t i = 0; i < e->spans().size(); ++i) spans.push_back(100.0 + static_cast<double>(i));
  const double first = e->Evaluate({30, 2, 9, 3, 12, 14, 3}, named, spans);
  const double again = e->Evaluate({30, 2, 9, 3, 12, 14, 3}, named, spans);
  EXPECT_TRUE(first == again || (std::isnan(first) && std::isnan(again))) << text;
  return first;
}

std::string Error(std::string_view text) {
  const absl::StatusOr<TargetExpression> e = TargetExpression::Parse(text, kNamed);
  EXPECT_FALSE(e.ok()) << text;
  return e.ok() ? "" : std::string(e.status().message());
}

TEST(TargetExpression, WorkedExamples) {
  EXPECT_EQ(Value("load / (0.5 * capacity)"), 30);
  EXPECT_EQ(Value("ceil(load / 7)"), 5);
  EXPECT_EQ(Value("ceil(0.1 * 3 * 10)"), 3);  // rounding noise must not yield 4
  EXPECT_EQ(Value("ready + starting == count ? 1 : 2"), 1);
  EXPECT_EQ(Value("hour >= 8 && hour < 18 && weekday >= 1 && weekday <= 5 ? 20 : 5"), 20);
  EXPECT_EQ(Value("hour < 8 || hour > 18"), 0);
  EXPECT_EQ(Value("min(load, 10, 20) + max(1, capacity)"), 12);
  EXPECT_EQ(Value("max(load)"), 30);
  EXPECT_EQ(Value("floor(2.7) + round(2.7) + abs(-3) + sqrt(16) + ln(exp(2))"), 14);
  EXPECT_EQ(Value("-load + 2 ^ 3 != -22"), 0);
  EXPECT_EQ(Value(" load\n\t* 1e1 "), 300);
  EXPECT_EQ(Value("load * capacity ^ 2 * capacity ^ 3 / capacity ^ 4"), 60);
  EXPECT_EQ(Value("1 / (load - 30)"), INFINITY);
  EXPECT_TRUE(std::isnan(Value("sqrt(-load)")));
  EXPECT_TRUE(std::isnan(Value("max(1, sqrt(-load), 2)")));
  EXPECT_EQ(Value("max_over(60) / capacity"), 50);
}

TEST(TargetExpression, SpansAreConstantsAndCountOnce) {
  const auto e =
      TargetExpression::Parse("max_over(60) + avg_over( 24 * 60 ) + max_over( 6*10 ) + p95_over(0.5*6)");
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(std::vector<LoadSpan>(e->spans().begin(), e->spans().end()),
            (std::vector<LoadSpan>{
                {SpanStatistic::kMax, 3600}, {SpanStatistic::kMean, 86400}, {SpanStatistic::kP95, 180}}));
  EXPECT_EQ(Value("max_over(60) + avg_over( 24 * 60 ) + max_over( 6*10 ) + p95_over(0.5*6)"), 403);
  constexpr std::string_view kAllowed = ": expected one constant number of minutes from 1 to 20160";
  for (const std::string argument :
       {"load", "20161", "0", "", "1, 2", "-5", "1/0", "0/0", "max_over(5)", "(5", "1=5"}) {
    const std::string text = "load + max_over(" + argument + ")";
    EXPECT_FALSE(Error(text).empty());
    if (argument.find('=') != std::string::npos || argument == "(5") continue;
    EXPECT_EQ(Error(text),
              "character 17: invalid argument \"" + argument + "\" of max_over" + std::string(kAllowed));
  }
  EXPECT_EQ(Error("avg_over + 1"), "character 1: expected avg_over(minutes)");
  std::string nine = "0";
  for (int i = 1; i <= 9; ++i) nine += "+max_over(" + std::to_string(i) + ")";
  EXPECT_EQ(Error(nine), "character 99: more than 8 different spans of past load");
}

TEST(TargetExpression, NamedSignals) {
  EXPECT_EQ(Value("queue_length / 50 + requests + queue_length"), 1 + 51 + 50);
  EXPECT_EQ(Value("cpu + memory + cpu_limit + memory_limit"), 50 + 51 + 52 + 53);
  EXPECT_EQ(Value("ceil(max(queue_length, 10m) / 50) + avg(cpu, 5m)"), 2 + 101);
  // Both notations of a span of the load are equivalent; a plain max of several values is not a span.
  EXPECT_EQ(Value("max(load, 1h) + max_over(60) + max(queue_length, 10) + max(1, load)"),
            100 + 100 + 50 + 30);
  const auto e =
      TargetExpression::Parse("max( queue_length , 90s ) + p95(requests, 2d) + avg(load,1.5h)", kNamed);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(std::vector<LoadSpan>(e->spans().begin(), e->spans().end()),
            (std::vector<LoadSpan>{{SpanStatistic::kMax, 90, 0},
                                   {SpanStatistic::kP95, 2 * 86400, 1},
                                   {SpanStatistic::kMean, 5400, -1}}));
  EXPECT_EQ(std::vector<std::string>(e->signals().begin(), e->signals().end()), kNamed);
  EXPECT_TRUE(e->reads_load());
  EXPECT_FALSE(e->reads_capacity());
  EXPECT_FALSE(TargetExpression::Parse("queue_length", kNamed)->reads_load());
  EXPECT_TRUE(TargetExpression::Parse("max_over(5)")->reads_load());
  EXPECT_THAT(Error("queue_lenght / 50"),
              StartsWith("character 1: unknown name \"queue_lenght\"; did you mean \"queue_length\"?"));
  EXPECT_THAT(Error("max(queue_lenght, 10m)"), StartsWith("character 5: unknown name \"queue_lenght\""));
  EXPECT_EQ(Error("avg(cpu, 30s)"), "character 5: invalid time of avg(cpu, 30s): expected 1m to 14d");
  EXPECT_EQ(Error("max(cpu, 15d)"), "character 5: invalid time of max(cpu, 15d): expected 1m to 14d");
  EXPECT_EQ(Error("1 + avg(cpu)"), "character 5: expected avg(SIGNAL, TIME), such as avg(cpu, 5m)");
  EXPECT_EQ(Error("p95(cpu, 5x)"), "character 1: expected p95(SIGNAL, TIME), such as p95(cpu, 5m)");
  EXPECT_EQ(Error("max(cpu + 1, 5m)"), "character 5: expected the name of a signal in max(cpu + 1, 5m)");
  EXPECT_EQ(Error("max(count, 5m)"), "character 5: \"count\" has no past: expected load or a named signal");
  EXPECT_THAT(Error("avg + 1"), StartsWith("character 1: unknown name \"avg\""));
  std::vector<std::string> many;
  std::string sum = "0";
  for (int i = 0; i < 9; ++i) {
    many.push_back("s" + std::to_string(i));
    sum += "+" + many.back();
  }
  EXPECT_EQ(TargetExpression::Parse(sum, many).status().message(), "character 27: more than 8 signals");
}

TEST(TargetExpression, AConstantIsANumberOfTasks) {
  EXPECT_EQ(Value("0"), 0);
  EXPECT_EQ(Value("3 - 2"), 1);
  EXPECT_EQ(Error("-5"), "character 1: the value is always -5: expected a number of tasks, 0 or more");
  EXPECT_EQ(Error("min(1, 2) - 3"),
            "character 1: the value is always -2: expected a number of tasks, 0 or more");
  EXPECT_THAT(Error("sqrt(0 - 1)"), HasSubstr("a constant part of it is not a finite number"));
  EXPECT_THAT(Error("exp(10000)"), HasSubstr("a constant part of it is not a finite number"));
  EXPECT_THAT(Value("hour - 50"), testing::Lt(0)) << "not a constant";
}

TEST(TargetExpression, NoSignalTakesANameThatMeansSomething) {
  std::vector<std::string> taken(kTargetSignals.begin(), kTargetSignals.end());
  taken.insert(taken.end(), kOwnSignals.begin(), kOwnSignals.end());
  for (const std::string name : {"max_over", "avg_over", "p95_over", "min", "max", "avg", "p95", "ceil",
                                 "floor", "round", "abs", "sqrt", "ln", "exp"})
    taken.push_back(name);
  for (const std::string& name : taken) EXPECT_FALSE(CheckSignalName(name).ok()) << name;
  for (const std::string name : {"", "Queue", "_0", "5xx", "queue-length", "q u"})
    EXPECT_THAT(std::string(CheckSignalName(name).message()), HasSubstr("lower-case letters")) << name;
  EXPECT_FALSE(CheckSignalName(std::string(65, 'a')).ok());
  for (const std::string name : {"queue_length", "q", "p99_of_5xx"})
    EXPECT_TRUE(CheckSignalName(name).ok()) << name;
}

TEST(TargetExpression, ErrorsSayWhereAndWhatIsAllowed) {
  EXPECT_EQ(Error("laod / capacity"),
            "character 1: unknown name \"laod\"; did you mean \"load\"? There are load, capacity, ready, "
            "starting, count, hour, weekday, cpu, memory, cpu_limit, memory_limit, queue_length, requests, "
            "max_over, avg_over, p95_over, min, max, ceil, floor, round, abs, sqrt, ln, exp, avg, p95");
  EXPECT_THAT(Error("load + rnd"), StartsWith("character 8: unknown name \"rnd\"; did you mean"));
  EXPECT_THAT(Error("load + rnd()"), StartsWith("character 8: unknown name \"rnd\""));
  EXPECT_THAT(Error("_0 + max_over(5)"), StartsWith("character 1: unknown name \"_0\""));
  EXPECT_EQ(Error("load = 5"), "character 6: \"=\" would assign a value: expected \"==\" to compare");
  EXPECT_FALSE(Error("load === 5").empty());
  EXPECT_FALSE(Error("(load == 1) = 5").empty());
  EXPECT_EQ(Error(""), "expected an expression, such as load / (0.7 * capacity)");
  EXPECT_EQ(Error("  "), Error(""));
  EXPECT_THAT(Error("load + \"a\""), StartsWith("character 8: expected a name, a number, one of"));
  EXPECT_THAT(Error("load; 5"), StartsWith("character 5: expected a name"));
  EXPECT_THAT(Error("load +"), HasSubstr("it ends where a value is expected"));
  EXPECT_THAT(Error("(load"), HasSubstr("a parenthesis is not closed"));
  EXPECT_THAT(Error("load)"), HasSubstr("unexpected parenthesis"));
  EXPECT_THAT(Error("load capacity"), HasSubstr("expected an operator before this value"));
  EXPECT_THAT(Error("load * / 2"), HasSubstr("expected a value before this operator"));
  EXPECT_THAT(Error("load > 2 ? 5"), HasSubstr("\"?\" without \":\""));
  EXPECT_THAT(Error("load : 5"), HasSubstr("unexpected \"?\" or \":\""));
  EXPECT_THAT(Error("ceil(1, 2)"), HasSubstr("too many arguments"));
  EXPECT_EQ(Error("max()"), "character 5: too few arguments, \"max\"");
  EXPECT_EQ(Error("ceil( )"), "character 7: too few arguments, \"ceil\"");
  EXPECT_EQ(Error("max + 1"), "character 1: \"max\" is a function: expected \"(\" after it");
  EXPECT_FALSE(Error("load(5)").empty());
  EXPECT_FALSE(Error("load, 5").empty());
  EXPECT_FALSE(Error("1e999").empty());
  EXPECT_FALSE(Error("1 / 1e-300 * 1e300").empty());
}

TEST(TargetExpression, DivisionByAConstantZeroIsRejected) {
  EXPECT_EQ(Error("load / 0"), "character 6: division by zero");
  EXPECT_EQ(Error("1 + load /(2 - 2)"), "character 10: division by zero");
  EXPECT_EQ(Error("1 / 0.0"), "character 3: division by zero");
  EXPECT_EQ(Error("load / floor(0.5)"), "a division by zero");
  EXPECT_EQ(Value("load / 0.5"), 60);
}

TEST(TargetExpression, LengthAndNestingAreLimited) {
  const std::string deep = std::string(32, '(') + "load" + std::string(32, ')');
  EXPECT_EQ(Value(deep), 30);
  EXPECT_EQ(Error("(" + deep + ")"), "character 33: more than 32 parentheses within each other");
  std::string longest = "0";
  while (longest.size() < 1000) longest += "+9";
  EXPECT_EQ(Error(longest), "1001 characters: expected at most 1000");
  EXPECT_EQ(Value(longest.substr(0, 999)), 4491);
  std::string chain = "1";
  while (chain.size() < 960) chain = "load>1?1:" + chain;
  EXPECT_EQ(Value(chain), 1);
}

TEST(TargetExpression, TheSettingIsChecked) {
  ReplicaSettings s;
  EXPECT_TRUE(CheckReplicaSettings(s).ok());
  EXPECT_TRUE(TargetExpression::Parse(s.function.target).ok());
  EXPECT_EQ(SetReplicaSetting("function.target", "load / 0", s).message(),
            "function.target: character 6: division by zero");
  EXPECT_EQ(s.function.target, FunctionReplicaSettings().target);
  EXPECT_TRUE(SetReplicaSetting("function.target", " load / 2 ", s).ok());
  EXPECT_EQ(s.function.target, "load / 2");
  EXPECT_TRUE(CheckReplicaSettings(s).ok());
  s.function.target = "lod";
  EXPECT_THAT(std::string(CheckReplicaSettings(s).message()),
              StartsWith("invalid function.target: character 1: unknown name \"lod\""));
}

}  // namespace
}  // namespace taut::brain
