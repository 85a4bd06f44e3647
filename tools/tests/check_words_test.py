import unittest

from tool_testing import TOOLS, ToolTest


class CheckWords(ToolTest):
    def test_the_real_tree_is_clean(self):
        self.root = TOOLS.parent
        self.assertEqual(self.run_tool("check_words")[0], 0)

    def test_using_namespace_is_found_everywhere(self):
        self.write("src/cli/a.cc", "int a;\nusing  namespace std;\n")
        self.assert_finds("check_words", ("src/cli/a.cc:2", "using namespace"))

    def test_random_numbers_of_the_library_are_found_in_the_core_and_the_simulator(self):
        self.write("src/state/a.cc", "std::mt19937 generator;\nint a = rand();\nint b = operand(1) + x.rand();\n")
        self.write("src/sim/a.cc", "std::uniform_int_distribution<int> d;\n")
        self.write("src/service/a.cc", "std::random_device device;\n")
        self.assert_finds("check_words", ("src/sim/a.cc:1", "base/rng.h"), ("src/state/a.cc:1", "base/rng.h"), ("src/state/a.cc:2", "base/rng.h"))

    def test_clocks_are_found_in_the_core_only(self):
        self.write("src/scheduler/a.cc", "auto t = std::chrono::steady_clock::now();\nauto u = time(nullptr);\nauto v = run_time(job);\n")
        self.write("src/base/clock.cc", "auto t = std::chrono::system_clock::now();\n")
        self.write("src/engine/local/a.cc", "auto t = std::chrono::system_clock::now();\n")
        self.assert_finds("check_words", ("src/scheduler/a.cc:1", "no clock"), ("src/scheduler/a.cc:2", "no clock"))

    def test_threads_and_files_are_found_in_the_core(self):
        self.write("src/policy/order/a.cc", "#include <fstream>\nstd::jthread worker;\n")
        self.assert_finds("check_words", ("src/policy/order/a.cc:1", "no files"), ("src/policy/order/a.cc:2", "no threads"))

    def test_bool_parameters_are_found_in_headers(self):
        self.write("src/base/a.h", "void f(int a, bool is_deep = false);\nvoid g(const bool x);\nbool h(int a);\nstruct S { bool a; };\nfor_each([](bool) {});\n")
        self.assert_finds("check_words", ("src/base/a.h:1", "enum class"), ("src/base/a.h:2", "enum class"))

    def test_comments_and_strings_are_no_code(self):
        self.write("src/state/a.cc", '// no using namespace, no rand()\nauto a = "using namespace rand()";\n')
        self.assert_clean("check_words")

    def test_unfinished_work_and_private_paths_are_found_in_every_text(self):
        self.write("src/base/a.cc", "// TO" "DO later\n")
        self.write("docs/guide/a.md", "see /ro" "ot/x\n")
        self.write("README.md", "see /ho" "me/x\n")
        self.write("docs/guide/b.md", "the /homely/ and a/home/b\n")
        self.assert_finds("check_words", ("README.md:1", "one person"), ("docs/guide/a.md:1", "one person"), ("src/base/a.cc:1", "finish it"))


if __name__ == "__main__":
    unittest.main()
