#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::sim {

/// A table with a header row; the first column names the row, the others hold right-aligned text.
struct PageTable {
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::pair<size_t, size_t>> best = {};  ///< (row, column) of cells that stand out
};

/// One part of a report. `html` is put in as it stands (figures); everything else is escaped.
struct PageSection {
  std::string title;
  std::vector<std::string> paragraphs;
  std::string html;
  PageTable table;            ///< shown below the figures; none without a header
  std::string details_title;  ///< of a table that is folded away at first; none when empty
  PageTable details;
};

struct Page {
  std::string title;
  std::string subtitle;
  std::vector<PageSection> sections;
};

/// For PageSection::html, where one table is not enough. Nothing for a table without a header.
std::string table_html(const PageTable& table);
/// `html`, as it stands, folded away under a title.
std::string folded_html(std::string_view title, std::string_view html);

/// A whole HTML document in one file: style, script and data inside, nothing fetched. Light and dark by the reader's
/// setting, readable from 360 pixels on and on paper.
std::string page_html(const Page& page);

}  // namespace weft::sim
