#!/usr/bin/env python3
"""No source, function, class or list of parameters of src/ is above both its bound and its size in tools/sizes.txt."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
import check_sizes  # noqa: E402

SOURCE = """
namespace taut {
// A comment with a brace { in it.
std::map<int, std::pair<int, int>> Table(int a, const std::map<int, int>& b,
                                         std::string c = "x, y") {
  return {};
}
Thing::Thing(int a) : a_(a) {
  if (a) { Do("}"); }
}
class Wide final : public Base {
 public:
  explicit Wide(int a);
  ~Wide() override;
  int One() const { return 1; }
  void Two(int a,
           int b);
  static std::function<int()> kept;
  struct Part {
    int Inner();
  };

 private:
  void Hidden();
};
}
"""


def main():
    lines = check_sizes.plain(SOURCE).split("\n")
    functions, classes = list(check_sizes.functions(lines)), list(check_sizes.classes(lines))
    assert functions == [("Table", 4, 3), ("Thing::Thing", 3, 1)], functions
    assert classes == [("Wide", 2)], classes
    check_sizes.main()


if __name__ == "__main__":
    main()
