# Writes OUTPUT, a C++ source whose NAMESPACE::FUNCTION gives the bytes of FILES (paths below FOLDER) as TYPEs, by their
# paths. HEADER declares both.
cmake_minimum_required(VERSION 3.25)
set(text "// Written by cmake/embed.cmake.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\n")
string(APPEND text "const std::vector<${TYPE}>& ${FUNCTION}() {\n  static const std::vector<${TYPE}> files = {\n")
foreach(file IN LISTS FILES)
  file(READ "${FOLDER}/${file}" content)
  string(APPEND text "      {\"${file}\", R\"_file_(${content})_file_\"},\n")
endforeach()
string(APPEND text "  };\n  return files;\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUTPUT} "${text}")
