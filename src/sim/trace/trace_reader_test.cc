#include "sim/trace/trace_reader.h"

#include "base/test_folder.h"
#include "sim/gzip_testing.h"
#include "sim/trace/trace_testing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace weft::sim {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kTiresias = "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n";

TEST(TraceFormats, HaveNamesThatAreReadBack) {
  for (const auto format : {TraceFormat::kAuto, TraceFormat::kOpenb, TraceFormat::kPhilly, TraceFormat::kTiresias,
                            TraceFormat::kMuri, TraceFormat::kHelios, TraceFormat::kPhillyLog, TraceFormat::kPai,
                            TraceFormat::kLingjun, TraceFormat::kSwf, TraceFormat::kSacct, TraceFormat::kWeftCsv})
    EXPECT_EQ(parse_trace_format(trace_format_name(format)), format);
  EXPECT_EQ(trace_format_name(TraceFormat::kWeftYaml), "weft");
  EXPECT_EQ(parse_trace_format("tiresas").error().message,
            "unknown format 'tiresas'; did you mean 'tiresias'? expected one of auto, openb, philly, tiresias, muri, "
            "helios, philly-log, pai, lingjun, swf, sacct, weft");
}

TraceFormat recognised(std::string_view text) {
  const ReadTrace trace = read_text(text);
  return trace.notes.format;
}

TEST(TraceReader, RecognisesFormatsByTheirFirstLine) {
  EXPECT_EQ(recognised(std::string(kTiresias) + "1,1,0,,,5,\n"), TraceFormat::kTiresias);
  EXPECT_EQ(recognised("\n\r\n\"duration\",job_id,num_gpu,submit_time\n5,1,1,0\n"), TraceFormat::kTiresias);
  EXPECT_EQ(recognised("job_id,num_gpu,submit_time,duration,iteration_time\n1,1,0,5,5\n"), TraceFormat::kMuri);
  EXPECT_EQ(recognised("timestamp,duration,num_gpus,gpu_time,cluster\n2017-10-09 07:01:55,66.0,1,66.0,a\n"),
            TraceFormat::kPhilly);
  EXPECT_EQ(recognised("[{\"jobid\": \"a\"}]"), TraceFormat::kPhillyLog);
  EXPECT_EQ(recognised("; a comment\n1 0 0 5 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"), TraceFormat::kSwf);
  EXPECT_EQ(recognised("  1 0 0 5 1 -1 -1 1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"), TraceFormat::kSwf);
  EXPECT_EQ(recognised("User|JobID|Submit|Elapsed|NCPUS\na|1|2023-01-02T03:04:05|00:10|1\n"), TraceFormat::kSacct);
  EXPECT_EQ(recognised("run_time,id,submit\n5,a,0\n"), TraceFormat::kWeftCsv);
  EXPECT_EQ(recognised("# mine\nweft_trace: 1\njobs: [{id: a, submit: 0, run_time: 5}]\n"), TraceFormat::kWeftYaml);
}

TEST(TraceReader, AHeaderLikeNoOtherListsTheFormats) {
  const std::string error = read_text("\n\na,b,c\n1,2,3\n").error;
  EXPECT_THAT(error, StartsWith("t:3:1: no format begins like this: 'a,b,c'; expected one of openb (name,"));
  for (const char* const name :
       {"openb", "philly", "tiresias", "muri", "helios", "philly-log", "pai", "lingjun", "swf", "sacct", "weft"})
    EXPECT_THAT(error, HasSubstr(name));
}

TEST(TraceReader, WeftIsTheNameOfBothOfItsFormats) {
  const TraceOptions weft{.format = TraceFormat::kWeftCsv};
  EXPECT_EQ(read_text("weft_trace: 1\njobs: [{id: a, submit: 0, run_time: 5}]\n", weft).jobs.size(), 1U);
  EXPECT_EQ(read_text("id,submit,run_time\na,0,5\n", weft).jobs.size(), 1U);
  EXPECT_EQ(read_text("a,b,c\n", weft).error,
            "t:1:1: unknown column 'a'; known are id, submit, run_time, gpus, tasks, "
            "gpus_anywhere, gpu_milli, gpu_models, cpu_milli, memory_bytes, name, user, "
            "queue, model, priority, estimate, limit, deadline, iterations, "
            "iteration_time, end, recorded_start, recorded_end, epoch");
}

/// What every format's reader refuses in the same words, shown with the simplest.
std::string error_of(std::string_view rows) { return read_text(std::string(kTiresias) + std::string(rows)).error; }

TEST(TraceReader, RefusesBadRowsByLineAndColumn) {
  EXPECT_EQ(error_of("1,1,0,,,5,\n2,1,0\n"), "t:3:1: 3 fields; expected 7");
  EXPECT_EQ(error_of("1,1,0,,,5,\n2,1,0,,,5,,\n"), "t:3:12: 8 fields; expected 7");
  EXPECT_EQ(error_of("1,1,10,,,5,\n2,1,9.5,,,5,\n"),
            "t:3:5: the job was submitted 0.5 s before the one above; expected jobs in order of submission");
  EXPECT_EQ(error_of("1,1,0,,,0,\n"), "t:2:9: the job runs for 0 s; expected more than 0");
  EXPECT_EQ(error_of("1,1,0,,,-5,\n"), "t:2:9: the job runs for -5 s; expected more than 0");
  EXPECT_EQ(error_of("1,1,0,,,5,\n1,1,0,,,5,\n"), "t:3:1: the id '1' stands twice; expected one job of an id");
  EXPECT_EQ(error_of(",1,0,,,5,\n"), "t:2:1: the job has no id; expected one");
  EXPECT_EQ(error_of("1,1,0,,,NaN,\n"), "t:2:9: duration: expected a number, found 'NaN'");
  EXPECT_EQ(error_of("1,1,0,,,1e30,\n"), "t:2:9: duration: expected at most 2,000,000,000, found '1e30'");
  EXPECT_EQ(error_of("1,99999999999999999999,0,,,5,\n"),
            "t:2:3: num_gpu: expected a number from 1 to 1,000,000, found '99999999999999999999'");
  EXPECT_EQ(error_of("1,0,0,,,5,\n"), "t:2:3: num_gpu: expected a number from 1 to 1,000,000, found '0'");
  EXPECT_EQ(error_of("1,1,0,,\xFF,5,\n"), "t:2:8: the byte 0xff is not valid UTF-8 here; a UTF-8 text is expected");
  EXPECT_EQ(error_of("1,1,0,,\"open,5,\n"), "t:2:8: the quoted field that begins here does not end");
}

TEST(TraceReader, RefusesWhatHasNoJobs) {
  EXPECT_EQ(read_text("").error, "t: the file is empty; expected a trace");
  EXPECT_EQ(read_text(" \n\r\n").error, "t: the file is empty; expected a trace");
  EXPECT_EQ(read_text("\xEF\xBB\xBF").error, "t: the file is empty; expected a trace");
  EXPECT_EQ(read_text("", {.format = TraceFormat::kTiresias}).error,
            "t: no rows; expected the columns "
            "job_id,num_gpu,submit_time,iterations,model_name,duration,iteration_time,priority");
  EXPECT_EQ(error_of(""), "t: no jobs; expected at least one");
}

TEST(TraceReader, CountsTheBadRowsThatItSkips) {
  const ReadTrace trace = read_text(std::string(kTiresias) +
                                        "1,1,0,,,5,\n"
                                        "2,x,0,,,5,\n"  // no number
                                        "3,1,0\n"       // cut off
                                        "1,1,0,,,5,\n"  // twice
                                        "4,1,5,,,5,\n"
                                        "5,1,4,,,5,\n"     // before the one above
                                        "6,1,5,,,0,\n"     // runs for nothing
                                        "7,1,5,,\"a,5,\n"  // a quote that does not end
                                        "8,1,5,,\x01,5,\n"
                                        "9,1,5,,,5,\n",
                                    {.bad_rows = BadRows::kSkip});
  EXPECT_EQ(trace.error, "");
  ASSERT_EQ(trace.jobs.size(), 3U);
  EXPECT_EQ(trace.jobs.back().id, "9");
  EXPECT_EQ(trace.notes.rows, 3U);
  EXPECT_EQ(trace.notes.skipped, 7U);
  EXPECT_EQ(trace.notes.first_skipped, "t:3:3: num_gpu: expected a whole number, found 'x'");
}

TEST(TraceReader, SaysSoWhenAllRowsWereSkipped) {
  EXPECT_EQ(read_text(std::string(kTiresias) + "1,x,0,,,5,\n2,y,0,,,5,\n", {.bad_rows = BadRows::kSkip}).error,
            "t: no jobs; expected at least one; 2 bad rows were skipped, the first: t:2:3: num_gpu: expected a whole "
            "number, found 'x'");
}

TEST(TraceReader, ReadsTheSameWithCrlfAByteOrderMarkAndPacked) {
  const std::string plain = std::string(kTiresias) + "a,2,1.5,7,vgg16,5,3\nb,1,2,8,,6,\n";
  const ReadTrace trace = read_text(plain);
  ASSERT_EQ(trace.jobs.size(), 2U);
  std::string crlf;
  for (const char c : plain) crlf += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(read_text(crlf).jobs, trace.jobs);
  EXPECT_EQ(read_text("\xEF\xBB\xBF" + crlf).jobs, trace.jobs);
  EXPECT_EQ(read_text(gzip(plain)).jobs, trace.jobs);
  const std::string packed = gzip(plain);
  for (const BadRows bad_rows : {BadRows::kRefuse, BadRows::kSkip}) {
    EXPECT_EQ(read_text(std::string_view(packed).substr(0, packed.size() / 2), {.bad_rows = bad_rows}).error,
              "t: the gzip file is cut off; expected more of it");
  }
}

TEST(TraceReader, RefusesAnEndlessLineInOneLine) {
  const std::string digits(3 << 20, '7');
  const std::string packed = gzip(digits);
  for (const std::string_view text : {std::string_view(digits), std::string_view(packed)}) {
    EXPECT_EQ(read_text(text).error, "t:1:1048577: the row goes on here; expected its end within 1,048,576 bytes");
    EXPECT_EQ(read_text(text, {.format = TraceFormat::kSwf}).error,
              "t:1:1048577: the row goes on here; expected its end within 1,048,576 bytes");
  }
  EXPECT_EQ(error_of("1,1,0,,," + digits),
            "t:2:1048577: the row goes on here; expected its end within 1,048,576 bytes");
  const ReadTrace skipped = read_text(std::string(kTiresias) + digits + "\n1,1,0,,,5,\n", {.bad_rows = BadRows::kSkip});
  EXPECT_EQ(skipped.jobs.size(), 1U);
  EXPECT_EQ(skipped.notes.skipped, 1U);
}

TEST(TraceReader, SaysWhyAPathIsNoTrace) {
  const TestFolder folder;
  EXPECT_THAT(read_trace(folder.path() + "/absent.csv", {}).error().message,
              EndsWith("absent.csv: there is no such file"));
  EXPECT_THAT(read_trace("", {}).error().message, HasSubstr("the name of a file is empty"));
  EXPECT_THAT(read_trace(folder.path(), {}).error().message,
              HasSubstr("is a directory; expected a file, or a folder with pai_job_table.csv"));
  EXPECT_THAT(read_trace(folder.path(), {.format = TraceFormat::kMuri}).error().message,
              HasSubstr("is a directory; expected a file"));
  EXPECT_THAT(read_trace(folder.path(), {.format = TraceFormat::kPai}).error().message,
              EndsWith("pai_job_table.csv: there is no such file"));
  const std::string file = folder.path() + "/f.csv";
  std::ofstream(file) << "id,submit,run_time\na,0,5\n";
  EXPECT_THAT(read_trace(file, {.format = TraceFormat::kLingjun}).error().message,
              EndsWith("f.csv: the format lingjun is a folder of tables; expected the folder"));
  TraceNotes notes;
  EXPECT_EQ(read_trace(file, {}, &notes).value().size(), 1U);
  EXPECT_EQ(notes.format, TraceFormat::kWeftCsv);
}

}  // namespace
}  // namespace weft::sim
