import importlib.machinery
import importlib.util
import sys
import unittest

from tool_testing import TOOLS, ToolTest

sys.path.insert(0, str(TOOLS))
_loader = importlib.machinery.SourceFileLoader("check_sizes", str(TOOLS / "check_sizes"))
check_sizes = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_sizes", _loader))
_loader.exec_module(check_sizes)


def body(lines):
    return "{\n" + "  f();\n" * lines + "}"


class Functions(unittest.TestCase):
    def found(self, text):
        return [(name, length) for name, _, length in check_sizes.functions(text)]

    def test_plain_functions_and_their_lengths(self):
        self.assertEqual(self.found(f"int a(int x) {body(3)}\nstatic void b() noexcept {body(0)}\nint c() {{ return 1; }}\n"),
                         [("a", 3), ("b", 0), ("c", 0)])

    def test_the_line_is_that_of_the_opening_brace(self):
        self.assertEqual(check_sizes.functions("\n\nint a(\n    int x) {\n  f();\n}\n"), [("a", 4, 1)])

    def test_methods_in_namespaces_and_types(self):
        text = f"namespace weft::x {{\nnamespace {{\nclass A final : public B<int> {{\n public:\n  bool is_a() const override {body(2)}\n}};\n}}\n}}"
        self.assertEqual(self.found(text), [("is_a", 2)])

    def test_trailing_return_requires_and_templates(self):
        text = (f"template <typename T, typename U = std::vector<T>>\nauto a(T t) -> std::pair<T, U> {body(1)}\n"
                f"template <class T>\n  requires std::integral<T>\nstruct S {{ T b() const& {body(2)} }};\n"
                f"template <class T> void c(T t) requires Small<T> {body(3)}\n")
        self.assertEqual(self.found(text), [("a", 1), ("b", 2), ("c", 3)])

    def test_constructor_lists_with_braces_and_parentheses(self):
        text = f"A::A(int x) : a_{{x}}, b_(x), c_{{{{1, 2}}}} {body(4)}\nB::B() : Base(1), d_(2) {body(5)}\nC::C(int y)\n    : e_{{y}} {{}}\n"
        self.assertEqual(self.found(text), [("A::A", 4), ("B::B", 5), ("C::C", 0)])

    def test_operators_and_destructors(self):
        text = f"bool operator==(const A& a, const A& b) {body(1)}\nA::~A() {body(2)}\nint A::operator()(int x) const {body(3)}\nA& A::operator=(A&& o) noexcept {body(4)}\n"
        self.assertEqual([length for _, length in self.found(text)], [1, 2, 3, 4])

    def test_values_in_braces_are_no_functions(self):
        text = ("const int kTable[] = {\n1,\n2,\n};\nstd::vector<int> v{\n1,\n2,\n};\nenum class E : uint8_t {\nkA,\nkB,\n};\n"
                "constexpr Point kZero = make(Point{.x = 1});\nconcept C = requires(T t) {\n t.a();\n};\nint x{3};\nstd::function<void()> f{\n};\n")
        self.assertEqual(self.found(text), [])

    def test_a_lambda_counts_for_the_function_around_it(self):
        self.assertEqual(self.found("void a() {\n  auto f = [&](int x) {\n    g();\n  };\n  if (x) {\n  }\n}\n"), [("a", 5)])

    def test_a_lambda_outside_of_functions_is_one(self):
        self.assertEqual([length for _, length in self.found(f"const auto kF = [](int x) {body(3)};\nauto g = [] {body(2)};\n")], [3, 2])

    def test_test_macros_are_named_by_their_arguments(self):
        self.assertEqual(self.found(f"TEST(Index, RollbackRestoresAll) {body(2)}\n"), [("TEST(Index, RollbackRestoresAll)", 2)])

    def test_comments_strings_and_macros_hide_their_braces(self):
        text = ('void a() {\n  // {\n  f("{", \'{\', R"x({{{)x", 1\'000);\n  /* { */\n}\n#define M(x) \\\n  do { \\\n  }\nvoid b() {\n}\n')
        self.assertEqual(self.found(text), [("a", 3), ("b", 0)])

    def test_a_function_that_returns_a_struct_by_its_full_name(self):
        self.assertEqual(self.found(f"struct stat a(int x) {body(1)}\nenum Colour b() const {body(2)}\n"), [("a", 1), ("b", 2)])

    def test_defaulted_and_declared_functions_do_not_swallow_the_next(self):
        text = f"struct A {{\n  A() = default;\n  bool operator==(const A&) const = default;\n  void f(int x = 3);\n  int g(std::vector<int> v = {{}}) {body(6)}\n}};\n"
        self.assertEqual(self.found(text), [("g", 6)])


class CheckSizes(ToolTest):
    def test_the_real_tree_is_small_enough(self):
        self.root = TOOLS.parent
        self.assertEqual(self.run_tool("check_sizes")[0], 0)

    def test_seventy_lines_pass_and_seventy_one_do_not(self):
        self.write("src/base/a.cc", f"void a() {body(70)}\nvoid b() {body(71)}\n")
        self.assert_finds("check_sizes", ("src/base/a.cc:73", "b has 71 lines"))

    def test_eight_hundred_lines_pass_and_one_more_does_not(self):
        self.write("src/base/a.cc", "int a;\n" * 800)
        self.assertEqual(self.run_tool("check_sizes")[0], 0)
        self.write("src/base/a.cc", "int a;\n" * 801)
        self.assert_finds("check_sizes", ("src/base/a.cc", "801 lines"))

    def test_a_long_file_is_a_warning(self):
        self.write("src/base/a.cc", "int a;\n" * 401)
        status, lines = self.run_tool("check_sizes")
        self.assertEqual(status, 0)
        self.assertIn("warning: 401 lines", lines[0])

    def test_tests_and_benchmarks_are_measured_too(self):
        self.write("tests/a_test.cc", f"TEST(A, B) {body(71)}\n")
        self.assert_finds("check_sizes", ("tests/a_test.cc:1", "71 lines"))


if __name__ == "__main__":
    unittest.main()
