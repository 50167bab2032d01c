# SPDX-License-Identifier: Apache-2.0
# Flags that make a memory error harder to exploit, if the compiler supports them. Builds with sanitizers, which
# detect the errors themselves, only get position-independent code. tests/check_hardening.sh checks that the program was built
# with these flags.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

# harden_compile(FLAG...): compiles with each flag that the compiler supports.
function(harden_compile)
  foreach(flag IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "takes${flag}" known)
    check_c_compiler_flag("${flag} -Werror" ${known})
    if(${known})
      add_compile_options(${flag})
    endif()
  endforeach()
endfunction()

# harden_link(FLAG...): links with each flag that the linker supports.
function(harden_link)
  foreach(flag IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER "links${flag}" known)
    check_linker_flag(C "${flag}" ${known})
    if(${known})
      add_link_options(${flag})
    endif()
  endforeach()
endfunction()

check_pie_supported(LANGUAGES C)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize=")
  # FORTIFY only works with optimization. -U is needed because some distributions' compilers define the macro themselves.
  set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" takes_fortify_3)
  unset(CMAKE_REQUIRED_FLAGS)
  set(fortify -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$<IF:$<BOOL:${takes_fortify_3}>,3,2>)
  add_compile_options("$<$<NOT:$<CONFIG:Debug>>:${fortify}>")
  harden_compile(-fstack-protector-strong -fstack-clash-protection -ftrivial-auto-var-init=zero)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    harden_compile(-fcf-protection=full)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    harden_compile(-mbranch-protection=standard)
  endif()
  harden_link(-Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
