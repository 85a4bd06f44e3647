#include "base/test_folder.h"
#include "store/codec.h"
#include "store/database.h"
#include "store/filled_testing.h"
#include "store/journal_reader.h"
#include "store/journal_writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/stat.h>

namespace weft::store {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;
namespace fs = std::filesystem;
using Keep = JournalWriter::Keep;

JournalHead head_for_tests() {
  JournalHead head{.weft_version = "9.9", .command = "simulate", .facts = {{"trace", "a b.csv"}, {"cluster", "4x8"}}};
  head.policy.order = "srsf";
  head.policy.random_seed = 17;
  return head;
}

/// A call with some events and decisions of its own.
struct Call {
  std::vector<Event> events;
  Decisions decisions;
  uint64_t hash = 0;
};
Call call_for_tests(uint64_t number) {
  Filler filler(number);
  Call call{.hash = ~number};
  for (uint64_t i = 0; i < 1 + number % 3; ++i) {
    Event& event = call.events.emplace_back();
    filler.fill(event.body);
    event.at = Instant{static_cast<int64_t>(number * 1000 - i)};
  }
  for (uint64_t i = 0; i < number % 4; ++i) {
    call.decisions.list.push_back({.at = Instant{static_cast<int64_t>(number * 1000)},
                                   .kind = DecisionKind::kStart,
                                   .job = make_id<JobId>(number),
                                   .attempt = static_cast<uint32_t>(i)});
  }
  return call;
}

void write_calls(JournalWriter& writer, uint64_t first, uint64_t last) {
  for (uint64_t i = first; i <= last; ++i) {
    const Call call = call_for_tests(i);
    const CallKind kind = i % 2 == 0 ? CallKind::kAbsorb : CallKind::kApply;
    const auto written = writer.record(kind, call.events, call.decisions, call.hash);
    ASSERT_TRUE(written) << written.error().message;
  }
}

void expect_calls(JournalReader& reader, uint64_t last) {
  RecordedCall read;
  uint64_t decisions = 0;
  for (uint64_t i = 1; i <= last; ++i) {
    const auto step = reader.next(read);
    ASSERT_TRUE(step) << step.error().message;
    ASSERT_EQ(*step, JournalReader::Step::kCall) << i;
    const Call call = call_for_tests(i);
    decisions += call.decisions.list.size();
    EXPECT_EQ(read.number, i);
    EXPECT_EQ(read.at, Instant{static_cast<int64_t>(i * 1000)});
    EXPECT_EQ(read.kind, i % 2 == 0 ? CallKind::kAbsorb : CallKind::kApply);
    EXPECT_EQ(read.events, call.events);
    EXPECT_EQ(read.decisions.size(), call.decisions.list.size());
    EXPECT_EQ(read.decision_count, decisions);
    EXPECT_EQ(read.decision_hash, call.hash);
  }
  const auto end = reader.next(read);
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(*end, JournalReader::Step::kEnd);
}

std::unique_ptr<JournalWriter> writer_for(const std::string& path, Keep keep) {
  auto writer = JournalWriter::create(path, keep, head_for_tests());
  EXPECT_TRUE(writer) << writer.error().message;
  return writer ? std::move(*writer) : nullptr;
}

/// What the first fault of reading the file is; empty: none.
std::string fault_of(const std::string& path) {
  auto reader = JournalReader::open(path);
  if (!reader) return reader.error().message;
  RecordedCall call;
  for (;;) {
    const auto step = (*reader)->next(call);
    if (!step) return step.error().message;
    if (*step == JournalReader::Step::kEnd) return {};
  }
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

class Journal : public ::testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/run.journal"; }
  /// A finished journal of so many calls.
  void make(uint64_t calls) {
    const auto writer = writer_for(path(), Keep::kWhole);
    write_calls(*writer, 1, calls);
    ASSERT_TRUE(writer->finish());
  }
  void change(const std::string& sql) {
    auto database = Database::open(path(), Database::Access::kWrite);
    ASSERT_TRUE(database) << database.error().message;
    const auto done = database->run(sql);
    ASSERT_TRUE(done) << done.error().message;
  }
  TestFolder folder_;
};

TEST_F(Journal, GivesBackWhatWasRecorded) {
  const auto writer = writer_for(path(), Keep::kWhole);
  write_calls(*writer, 1, 10'000);
  ASSERT_TRUE(writer->finish(1234));
  EXPECT_EQ(files_in(folder_.path()), std::vector<std::string>{"run.journal"});
  const auto reader = JournalReader::open(path());
  ASSERT_TRUE(reader) << reader.error().message;
  JournalHead head = head_for_tests();
  head.wall_start_ms = 1234;
  EXPECT_EQ((*reader)->head(), head);
  EXPECT_EQ((*reader)->call_count(), 10'000U);
  ASSERT_TRUE((*reader)->end());
  EXPECT_EQ(*(*reader)->end(), writer->totals());
  expect_calls(**reader, 10'000);
}

TEST_F(Journal, KeepsTheCallsWithoutEvents) {
  const auto writer = writer_for(path(), Keep::kWhole);
  const std::vector<ExpectedTask> tasks{{.cpu_milli = 1, .gpu_count = 2, .gpu_milli = 3, .models = {"T4"}}};
  write_calls(*writer, 1, 3);
  ASSERT_TRUE(writer->record_tasks(tasks));
  ASSERT_TRUE(writer->record_try_everybody());
  ASSERT_TRUE(writer->finish());
  const auto reader = JournalReader::open(path());
  ASSERT_TRUE(reader);
  RecordedCall call;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE((*reader)->next(call));
  EXPECT_EQ(call.kind, CallKind::kExpectTasks);
  EXPECT_EQ(call.tasks, tasks);
  EXPECT_TRUE(call.events.empty());
  EXPECT_EQ(call.at, Instant{3000});
  EXPECT_EQ(call.decision_hash, ~uint64_t{3});
  ASSERT_TRUE((*reader)->next(call));
  EXPECT_EQ(call.kind, CallKind::kTryEverybody);
  EXPECT_EQ(*(*reader)->next(call), JournalReader::Step::kEnd);
}

TEST_F(Journal, OfAServerCanBeReadWhileItIsWritten) {
  const auto writer = writer_for(path(), Keep::kLive);
  write_calls(*writer, 1, 5);
  struct stat status{};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  const auto early = JournalReader::open(path());
  ASSERT_TRUE(early) << early.error().message;
  write_calls(*writer, 6, 9);
  EXPECT_FALSE((*early)->end());
  expect_calls(**early, 5);  // as it stood when the reading began
  const auto late = JournalReader::open(path());
  ASSERT_TRUE(late) << late.error().message;
  expect_calls(**late, 9);
  ASSERT_TRUE(writer->finish());  // though others read it
  const auto after = JournalReader::open(path());
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_TRUE((*after)->end());
  expect_calls(**after, 9);
}

TEST_F(Journal, OfAServerThatWasNotFinishedStays) {
  {
    const auto writer = writer_for(path(), Keep::kLive);
    write_calls(*writer, 1, 5);
  }
  const auto reader = JournalReader::open(path());
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_FALSE((*reader)->end());
  expect_calls(**reader, 5);
}

TEST_F(Journal, OfARunThatFailedLeavesNothingAndTheOldOneAlone) {
  make(3);
  {
    const auto writer = writer_for(path(), Keep::kWhole);
    write_calls(*writer, 1, 5000);
    EXPECT_EQ(fault_of(path() + ".unfinished"), "");  // up to the last commit
  }
  EXPECT_EQ(files_in(folder_.path()), std::vector<std::string>{"run.journal"});
  const auto reader = JournalReader::open(path());
  ASSERT_TRUE(reader);
  expect_calls(**reader, 3);
}

TEST_F(Journal, TakesThePlaceOfOneThatLeftALog) {
  {
    const auto killed = writer_for(path(), Keep::kLive);
    write_calls(*killed, 1, 50);
    for (const char* const ending : {"", "-wal"}) fs::copy_file(path() + ending, path() + ".copy" + ending);
  }
  fs::remove(path());
  for (const char* const ending : {"", "-wal"}) fs::rename(path() + ".copy" + ending, path() + ending);
  ASSERT_EQ(fault_of(path()), "");
  make(3);
  const auto reader = JournalReader::open(path());
  ASSERT_TRUE(reader);
  expect_calls(**reader, 3);
}

TEST_F(Journal, IsWrittenByOneRunAtATime) {
  const auto first = writer_for(path(), Keep::kWhole);
  const auto second = JournalWriter::create(path(), Keep::kWhole, head_for_tests());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("run.journal.unfinished: another run is writing it"));
  ASSERT_TRUE(first->finish());
  const auto third = JournalWriter::create(path(), Keep::kWhole, head_for_tests());
  EXPECT_TRUE(third) << third.error().message;
}

TEST_F(Journal, OfAServerIsNotWrittenOver) {
  std::ofstream(path()).close();  // an empty file may be there
  writer_for(path(), Keep::kLive)->finish().value();
  const auto second = JournalWriter::create(path(), Keep::kLive, head_for_tests());
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("run.journal: is there already"));
  EXPECT_EQ(fault_of(path()), "");
}

TEST_F(Journal, SaysWhenAFileIsNone) {
  EXPECT_THAT(fault_of(path()), HasSubstr("run.journal: cannot be opened: No such file or directory"));
  std::ofstream(path()) << "job_id,num_gpu\n" << std::string(5000, 'x');
  EXPECT_THAT(fault_of(path()), HasSubstr("run.journal: is no journal of weft"));
  std::ofstream(path()).close();
  EXPECT_THAT(fault_of(path()), HasSubstr("run.journal: is no journal of weft"));
  change("CREATE TABLE calls (number)");
  EXPECT_THAT(fault_of(path()), HasSubstr("run.journal: is no journal of weft"));
  EXPECT_THAT(fault_of(folder_.path()), HasSubstr("cannot be"));
}

TEST_F(Journal, SaysWhenItIsOfANewerWeft) {
  make(2);
  change("PRAGMA user_version = 7");
  EXPECT_THAT(fault_of(path()), HasSubstr("was written by a newer weft: its form is 7"));
}

TEST_F(Journal, FindsWhateverWasChangedInIt) {
  const std::vector<std::pair<std::string, std::string>> changes{
      {"UPDATE calls SET told = substr(told, 1, length(told) - 1) WHERE number = 7",
       "call 7: its check sum is another"},
      {"UPDATE calls SET hash = hash + 1 WHERE number = 7", "call 7: its check sum is another"},
      {"UPDATE calls SET at = at + 1 WHERE number = 7", "call 7: its check sum is another"},
      {"UPDATE calls SET told = 'text' WHERE number = 7", "call 7: what was told or decided is missing"},
      {"UPDATE calls SET hash = NULL WHERE number = 7", "NOT NULL"},
      {"DELETE FROM calls WHERE number = 7", "call 7: it is missing"},
      {"DELETE FROM calls WHERE number = 20", "it holds 19 calls, and had 20 when it was finished"},
      {"UPDATE calls SET number = 100 WHERE number = 20", "call 20: it is missing"},
      {"DELETE FROM meta WHERE name = 'policy'", "it does not say what was run"},
      {"UPDATE meta SET value = x'0100' WHERE name = 'policy'", "the policy: byte 2: they end too early"},
      {"DROP TABLE facts", "no such table: facts"},
  };
  for (const auto& [sql, expected] : changes) {
    make(20);
    auto database = Database::open(path(), Database::Access::kWrite);
    ASSERT_TRUE(database);
    if (const auto done = database->run(sql); !done) {
      EXPECT_EQ(expected, "NOT NULL") << sql << ": " << done.error().message;  // the table itself refuses it
      continue;
    }
    const std::string fault = fault_of(path());
    EXPECT_THAT(fault, HasSubstr(expected)) << sql;
    EXPECT_THAT(fault, HasSubstr("run.journal: is ")) << sql;
  }
}

TEST_F(Journal, IsReadWithoutHarmWhateverItsBytes) {
  make(40);
  std::string whole;
  {
    std::ifstream in(path(), std::ios::binary);
    whole.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::string other = folder_.path() + "/other";
  const auto read_as = [&](const std::string& bytes) {
    std::ofstream(other, std::ios::binary) << bytes;
    return fault_of(other);
  };
  EXPECT_EQ(read_as(whole), "");
  size_t found = 0;
  Rng rng(5);
  for (int i = 0; i < 600; ++i) {
    std::string damaged = whole;
    for (uint64_t flips = 1 + rng.below(3); flips > 0; --flips)
      damaged[rng.below(damaged.size())] ^= static_cast<char>(1 + rng.below(255));
    if (i % 3 == 0) damaged.resize(rng.below(damaged.size()));
    const std::string fault = read_as(damaged);
    EXPECT_EQ(fault.find('\n'), std::string::npos) << fault;
    found += fault.empty() ? 0 : 1;
  }
  EXPECT_GT(found, 300U);  // the rest fell into what no page uses
}

TEST_F(Journal, CanBeReadWhereNothingCanBeWritten) {
  make(4);
  ASSERT_EQ(::chmod(path().c_str(), 0400), 0);
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0500), 0);
  EXPECT_EQ(fault_of(path()), "");
  ASSERT_EQ(::chmod(folder_.path().c_str(), 0700), 0);
}

}  // namespace
}  // namespace weft::store
