# SPDX-License-Identifier: Apache-2.0
# embed_migrations(<target> <set> <dir>): compiles the numbered .sql files in <dir> into <target> as `migrations_<set>`, which
# migrations/migrations.h declares. The custom command below runs this file as a script.
if(CMAKE_SCRIPT_MODE_FILE)
  file(GLOB files RELATIVE ${DIR} ${DIR}/[0-9][0-9][0-9][0-9]_*.sql)
  list(SORT files)
  set(number 0)
  set(arrays "")
  set(rows "")
  foreach(name IN LISTS files)
    math(EXPR number "${number} + 1")
    string(SUBSTRING ${name} 0 4 prefix)
    math(EXPR found "${prefix}") # to CMake, a number with leading zeros is decimal
    if(NOT found EQUAL number)
      message(FATAL_ERROR "${DIR}: expected migration number ${number}, found ${name}")
    endif()
    file(READ ${DIR}/${name} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(APPEND arrays "static const char sql_${number}[] = {${bytes}0};\n")
    string(APPEND rows "    { \"${name}\", sql_${number} },\n")
  endforeach()
  file(WRITE ${OUT} "#include \"migrations/migrations.h\"\n\n${arrays}\n"
    "static const struct migration rows[] = {\n${rows}};\n"
    "const struct migration_set migrations_${SET} = { rows, ${number} };\n")
  return()
endif()

set(EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(embed_migrations target set dir)
  set(out ${CMAKE_BINARY_DIR}/migrations_${set}.c)
  file(GLOB sql_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${dir}/*.sql)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DDIR=${CMAKE_SOURCE_DIR}/${dir} -DSET=${set} -P ${EMBED_SCRIPT}
    DEPENDS ${sql_files} ${EMBED_SCRIPT})
  target_sources(${target} PRIVATE ${out})
endfunction()
