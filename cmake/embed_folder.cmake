# SPDX-License-Identifier: Apache-2.0
# embed_folder(<target> <symbol> <dir> <extension>): compiles the files *.<extension> in <dir> and in its subfolders, in
# order of file name, into <target> as `const struct embedded_file <symbol>[]` (base/core/embedded.h). A row without a name ends
# the array. The custom command below runs this file as a script.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB_RECURSE files ${DIR}/*.${EXTENSION})
  list(SORT files COMPARE FILE_BASENAME)
  set(arrays "")
  set(rows "")
  set(number 0)
  foreach(path IN LISTS files)
    math(EXPR number "${number} + 1")
    get_filename_component(name ${path} NAME_WLE)
    file(READ ${path} hex HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
    string(APPEND arrays "static const char file_${number}[] = {${bytes}0};\n")
    string(APPEND rows "    { \"${name}\", file_${number}, sizeof file_${number} - 1 },\n")
  endforeach()
  file(WRITE ${OUT} "#include \"base/core/embedded.h\"\n\n${arrays}\n"
    "extern const struct embedded_file ${SYMBOL}[];\nconst struct embedded_file ${SYMBOL}[] = {\n${rows}    { 0 },\n};\n")
  return()
endif()

set(EMBED_FOLDER_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(embed_folder target symbol dir extension)
  set(out ${CMAKE_BINARY_DIR}/${symbol}.c)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${dir}/*.${extension})
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DDIR=${CMAKE_SOURCE_DIR}/${dir} -DEXTENSION=${extension} -DSYMBOL=${symbol}
            -P ${EMBED_FOLDER_SCRIPT}
    DEPENDS ${files} ${EMBED_FOLDER_SCRIPT})
  target_sources(${target} PRIVATE ${out})
endfunction()
