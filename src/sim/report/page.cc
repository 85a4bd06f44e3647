#include "sim/report/page.h"

#include "embedded/sim/report/page.css.h"
#include "embedded/sim/report/page.js.h"
#include "sim/report/chart.h"

#include <fmt/format.h>

#include <iterator>

namespace weft::sim {

namespace {

void add_table(std::string& out, const PageTable& table) {
  if (table.header.empty()) return;
  out += "<div class=\"scroll\"><table><thead><tr>";
  for (const std::string& cell : table.header) out += fmt::format("<th scope=\"col\">{}</th>", html_text(cell));
  out += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : table.rows) {
    out += "<tr>";
    for (const std::string& cell : row) out += fmt::format("<td>{}</td>", html_text(cell));
    out += "</tr>\n";
  }
  out += "</tbody></table></div>\n";
}

void add_section(std::string& out, const PageSection& section) {
  out += fmt::format("<section><h2>{}</h2>\n", html_text(section.title));
  for (const std::string& paragraph : section.paragraphs) out += fmt::format("<p>{}</p>\n", html_text(paragraph));
  out += section.html;
  add_table(out, section.table);
  if (!section.details_title.empty()) {
    out += fmt::format("<details><summary>{}</summary>\n", html_text(section.details_title));
    add_table(out, section.details);
    out += "</details>\n";
  }
  out += "</section>\n";
}

}  // namespace

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
