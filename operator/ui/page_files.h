// The files of the page, which the build takes from ui/bundle (cmake/embed.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace capi::ops::ui {

struct PageFile {
  std::string_view path;  // "page.js"
  std::string_view content;
};

const std::vector<PageFile>& PageFiles();

}  // namespace capi::ops::ui
