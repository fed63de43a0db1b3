# Man pages and completions for bash, zsh and fish: the command, once built, is asked for its help.

option(TESSERA_MANUAL "Man pages and completions, where Python and help2man are there" ON)
if(NOT TESSERA_MANUAL)
    return()
endif()
if(CMAKE_CROSSCOMPILING)
    message(STATUS "manual: the command does not run here, so no man pages and no completions")
    return()
endif()
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
    message(STATUS "manual: no Python 3, so no man pages and no completions; python3 brings it")
    return()
endif()
find_program(HELP2MAN help2man)

# The pages are those of the commands that there are, so the first stands for all.
set(manual ${CMAKE_BINARY_DIR}/manual)
set(manual_files ${manual}/bash-completion/completions/tessera
    ${manual}/zsh/site-functions/_tessera ${manual}/fish/vendor_completions.d/tessera.fish)
set(help2man "")
if(HELP2MAN)
    set(help2man ${HELP2MAN})
    list(APPEND manual_files ${manual}/man1/tessera.1)
else()
    message(STATUS "manual: no help2man, so no man pages; Debian's help2man brings it")
endif()
set(manual_script ${CMAKE_SOURCE_DIR}/packaging/manual.py)
add_custom_command(OUTPUT ${manual_files}
    COMMAND ${Python3_EXECUTABLE} ${manual_script} $<TARGET_FILE:tessera_command> ${manual} ${help2man}
    DEPENDS tessera_command ${manual_script} COMMENT "Asking the command for its manual" VERBATIM)
add_custom_target(tessera_manual ALL DEPENDS ${manual_files})

install(DIRECTORY ${manual}/bash-completion ${manual}/zsh ${manual}/fish
    DESTINATION ${CMAKE_INSTALL_DATADIR})
if(HELP2MAN)
    install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
endif()
