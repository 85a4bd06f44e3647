# Data files of a room that its code needs at run time are built into it: src/model/devices.tsv becomes the header
# "embedded/model/devices.tsv.h", which holds `weft::embedded::kDevicesTsv`, a std::string_view of the whole file.

set(weft_embed_template [=[
#pragma once

#include <string_view>

namespace weft::embedded {

inline constexpr std::string_view @symbol@ = R"weft_embed(@text@)weft_embed";

}  // namespace weft::embedded
]=])

function(weft_embed folder)
  set(patterns "")
  foreach(extension tsv csv sql html css js svg)
    list(APPEND patterns ${PROJECT_SOURCE_DIR}/src/${folder}/*.${extension})
  endforeach()
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src ${patterns})
  foreach(file IN LISTS files)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${file})
    cmake_path(GET file FILENAME name)
    string(REGEX REPLACE "[^A-Za-z0-9]+" ";" words "${name}")
    set(symbol k)
    foreach(word IN LISTS words)
      string(SUBSTRING ${word} 0 1 first)
      string(SUBSTRING ${word} 1 -1 rest)
      string(TOUPPER ${first} first)
      string(APPEND symbol ${first}${rest})
    endforeach()
    file(READ ${PROJECT_SOURCE_DIR}/src/${file} text)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/embedded/${file}.h CONTENT "${weft_embed_template}" @ONLY)
  endforeach()
endfunction()
