import unittest

from tool_testing import TOOLS, ToolTest

TABLE = """
weft_room(base MAY LIBS fmt)
weft_room(model MAY base LIBS fmt)
weft_room(state MAY base model LIBS fmt)
weft_room(scheduler MAY base model state LIBS fmt)
weft_room(engine       MAY base model LIBS fmt)
weft_room(engine/fake  MAY base model LIBS fmt)
weft_room(engine/local MAY base model LIBS fmt hwloc)
weft_room(service MAY base model scheduler/scheduler.h LIBS fmt json)
weft_room(sim MAY base model scheduler/scheduler.h engine/fake LIBS fmt yaml)
weft_room(cli MAY * LIBS fmt cli11)
"""


class CheckIncludes(ToolTest):
    def setUp(self):
        super().setUp()
        self.write("cmake/rooms.cmake", TABLE)
        for path in ("base/ids", "model/job", "state/cluster_state", "scheduler/scheduler", "scheduler/ladder",
                     "engine/engine", "engine/fake/fake", "engine/local/local"):
            self.write(f"src/{path}.h", "#pragma once\n")

    def test_the_real_tree_obeys_the_law(self):
        self.root = TOOLS.parent
        self.assertEqual(self.run_tool("check_includes")[0], 0)

    def test_a_room_may_include_what_its_line_says(self):
        self.write("src/state/a.cc", '#include "base/ids.h"\n#include "model/job.h"\n#include "state/cluster_state.h"\n#include <fmt/core.h>\n')
        self.write("src/service/a.cc", '#include "scheduler/scheduler.h"\n#include <boost/json/src.hpp>\n')
        self.write("src/engine/local/a.cc", '#include "engine/engine.h"\n#include <hwloc.h>\n#include <sys/stat.h>\n#include <unistd.h>\n')
        self.write("src/sim/a.cc", '#include "engine/fake/fake.h"\n#include "engine/engine.h"\n')
        self.write("src/cli/a.cc", '#include "engine/local/local.h"\n#include "state/cluster_state.h"\n')
        self.write("tests/a_test.cc", '#include "engine/local/local.h"\n#include <gtest/gtest.h>\n')
        self.assert_clean("check_includes")

    def test_an_upward_include_is_found(self):
        self.write("src/base/a.cc", '#include "base/ids.h"\n\n  #  include "model/job.h"\n')
        self.assert_finds("check_includes", ("src/base/a.cc:3", 'room base may not include "model/job.h"'))

    def test_engines_see_neither_state_nor_each_other(self):
        self.write("src/engine/local/a.cc", '#include "state/cluster_state.h"\n#include "engine/fake/fake.h"\n')
        self.assert_finds("check_includes", ("src/engine/local/a.cc:1", "engine/local may not"), ("src/engine/local/a.cc:2", "engine/local may not"))

    def test_the_engine_interface_does_not_see_the_engines(self):
        self.write("src/engine/a.cc", '#include "engine/fake/fake.h"\n')
        self.assert_finds("check_includes", ("src/engine/a.cc:1", "room engine may not"))

    def test_the_simulator_sees_no_engine_but_the_fake(self):
        self.write("src/sim/a.cc", '#include "engine/local/local.h"\n')
        self.assert_finds("check_includes", ("src/sim/a.cc:1", "room sim may not"))

    def test_of_a_room_only_the_named_header_is_let_out(self):
        self.write("src/service/a.cc", '#include "scheduler/ladder.h"\n')
        self.assert_finds("check_includes", ("src/service/a.cc:1", 'may not include "scheduler/ladder.h"'))

    def test_the_header_let_out_carries_nothing_in(self):
        self.write("src/scheduler/scheduler.h", '#pragma once\n#include "state/cluster_state.h"\n')
        place = ("src/scheduler/scheduler.h:2", "is let out to")
        self.assert_finds("check_includes", place, place)

    def test_comments_and_strings_are_not_includes(self):
        self.write("src/base/a.cc", '// #include "model/job.h"\n/*\n#include "model/job.h"\n*/\nconst char* kText = "a\\n#include <yaml-cpp/yaml.h>";\n')
        self.assert_clean("check_includes")

    def test_a_quoted_include_is_given_from_the_source_folder(self):
        self.write("src/base/a.cc", '#include "ids.h"\n')
        self.assert_finds("check_includes", ("src/base/a.cc:1", "is no file of src/"))

    def test_an_embedded_data_file_belongs_to_its_room(self):
        self.write("src/model/devices.tsv", "name\n")
        self.write("src/model/a.cc", '#include "embedded/model/devices.tsv.h"\n')
        self.write("src/base/a.cc", '#include "embedded/model/devices.tsv.h"\n')
        self.assert_finds("check_includes", ("src/base/a.cc:1", "room base may not"))

    def test_third_party_libraries_are_given_by_the_table(self):
        self.write("src/state/a.cc", "#include <yaml-cpp/yaml.h>\n#include <absl/strings/str_cat.h>\n")
        self.assert_finds("check_includes", ("src/state/a.cc:1", "does not give it 'yaml'"), ("src/state/a.cc:2", "does not know"))

    def test_heavy_libraries_stay_out_of_headers(self):
        self.write("src/service/a.h", "#pragma once\n#include <boost/json.hpp>\n#include <boost/json/fwd.hpp>\n#include <fmt/core.h>\n")
        self.assert_finds("check_includes", ("src/service/a.h:2", "too heavy for a header"))

    def test_test_libraries_belong_into_tests(self):
        self.write("src/base/a.cc", "#include <gtest/gtest.h>\n")
        self.write("src/base/a_test.cc", "#include <gtest/gtest.h>\n#include <rapidcheck.h>\n")
        self.write("src/base/test_world.h", "#pragma once\n#include <gtest/gtest.h>\n")
        self.write("bench/a_bench.cc", "#include <benchmark/benchmark.h>\n")
        self.assert_finds("check_includes", ("src/base/a.cc:1", "test_*.h files only"))

    def test_a_header_starts_with_pragma_once(self):
        self.write("src/base/a.h", "// what it is\n#pragma once\n")
        self.write("src/base/b.h", "#ifndef B\n#define B\n#endif\n")
        self.assert_finds("check_includes", ("src/base/b.h:1", "#pragma once"))

    def test_a_file_outside_all_rooms_is_found(self):
        self.write("src/attic/a.cc", "")
        self.assert_finds("check_includes", ("src/attic/a.cc", "stands in no room"))

    def test_a_table_that_names_an_unknown_room_is_found(self):
        self.write("cmake/rooms.cmake", "weft_room(base MAY LIBS fmt)\nweft_room(model MAY bse LIBS fmt)\n")
        for path in ("state", "scheduler", "engine"):
            for file in sorted((self.root / "src" / path).rglob("*.h")):
                file.unlink()
        self.assert_finds("check_includes", ("cmake/rooms.cmake", "'bse', which is no room above it"))


if __name__ == "__main__":
    unittest.main()
