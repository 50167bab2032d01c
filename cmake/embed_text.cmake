# SPDX-License-Identifier: Apache-2.0
# embed_text(<target> <symbol> <file>): compiles the file's bytes into <target> as `const char <symbol>[]`, ended by a NUL.
# <symbol>_length is the number of bytes, and <symbol>_digest the first 16 hex digits of their SHA-256. The custom command below
# runs this file as a script.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ ${FILE} hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  file(SHA256 ${FILE} digest)
  string(SUBSTRING ${digest} 0 16 digest)
  file(WRITE ${OUT} "#include <stddef.h>\n"
    "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {${bytes}0};\n"
    "extern const size_t ${SYMBOL}_length;\nconst size_t ${SYMBOL}_length = sizeof ${SYMBOL} - 1;\n"
    "extern const char ${SYMBOL}_digest[];\nconst char ${SYMBOL}_digest[] = \"${digest}\";\n")
  return()
endif()

set(EMBED_TEXT_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(embed_text target symbol file)
  set(out ${CMAKE_BINARY_DIR}/${symbol}.c)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DSYMBOL=${symbol} -DFILE=${CMAKE_SOURCE_DIR}/${file}
            -P ${EMBED_TEXT_SCRIPT}
    DEPENDS ${CMAKE_SOURCE_DIR}/${file} ${EMBED_TEXT_SCRIPT})
  target_sources(${target} PRIVATE ${out})
endfunction()
