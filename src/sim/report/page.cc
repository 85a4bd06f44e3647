#include "sim/report/page.h"

#include "embedded/sim/report/page.css.h"
#include "embedded/sim/report/page.js.h"
#include "sim/report/chart.h"

#include <fmt/format.h>

#include <algorithm>

namespace weft::sim {

namespace {

void add_section(std::string& out, const PageSection& section) {
  out += fmt::format("<section><h2>{}</h2>\n", html_text(section.title));
  for (const std::string& paragraph : section.paragraphs) out += fmt::format("<p>{}</p>\n", html_text(paragraph));
  out += section.html;
  out += table_html(section.table);
  if (!section.details_title.empty()) out += folded_html(section.details_title, table_html(section.details));
  out += "</section>\n";
}

}  // namespace

std::string table_html(const PageTable& table) {
  if (table.header.empty()) return {};
  std::string out = "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& cell : table.header) out += fmt::format("<th scope=\"col\">{}</th>", html_text(cell));
  out += "</tr></thead><tbody>\n";
  for (size_t row = 0; row < table.rows.size(); ++row) {
    out += "<tr>";
    for (size_t column = 0; column < table.rows[row].size(); ++column) {
      const bool is_best = std::ranges::find(table.best, std::pair{row, column}) != table.best.end();
      out += fmt::format("<td{}>{}</td>", is_best ? " class=\"best\"" : "", html_text(table.rows[row][column]));
    }
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
  return out;
}

std::string folded_html(std::string_view title, std::string_view html) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", html_text(title), html);
}

std::string page_html(const Page& page) {
  std::string out = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>\n{}</style></head>\n"
      "<body><main><h1>{}</h1><p class=\"subtitle\">{}</p>\n",
      html_text(page.title), embedded::kPageCss, html_text(page.title), html_text(page.subtitle));
  for (const PageSection& section : page.sections) add_section(out, section);
  out += fmt::format(
      "<footer>Made by weft. This file needs nothing but "
      "itself.</footer></main>\n<script>\n{}</script></body></html>\n",
      embedded::kPageJs);
  return out;
}

}  // namespace weft::sim
