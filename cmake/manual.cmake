# Man pages, completions for bash, zsh and fish, and the documents that are installed.  The command,
# once built, is asked for its help; the other pages are docs/ and the public headers.

option(TESSERA_MANUAL "Man pages, completions and documents, where Python is there" ON)
if(NOT TESSERA_MANUAL)
    return()
endif()
find_package(Python3 COMPONENTS Interpreter)
if(NOT Python3_FOUND)
    message(STATUS "manual: no Python 3, so no man pages, documents and completions; python3 brings it")
    return()
endif()
set(manual ${CMAKE_BINARY_DIR}/manual)
set(packaging ${CMAKE_SOURCE_DIR}/packaging)
set(python_script ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${Python3_EXECUTABLE})

# ---- of documents and headers ----------------------------------------------------------------

file(GLOB documents CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/*.md ${CMAKE_SOURCE_DIR}/docs/*.md
    ${CMAKE_SOURCE_DIR}/docs/images/* ${CMAKE_SOURCE_DIR}/docs/course/*
    ${CMAKE_SOURCE_DIR}/examples/*.[ch]
    ${CMAKE_SOURCE_DIR}/include/tessera/*.h)
# One page stands for all.
set(pages ${manual}/man7/tessera.7)
set(docs ${pages})
add_custom_command(OUTPUT ${pages}
    COMMAND ${python_script} ${packaging}/pages.py ${CMAKE_SOURCE_DIR} ${manual} ${PROJECT_VERSION}
    DEPENDS ${documents} ${packaging}/pages.py ${packaging}/header_pages.py ${packaging}/roff.py
    COMMENT "Making man pages of the documents and headers" VERBATIM)
install(DIRECTORY ${manual}/man3 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT libtessera-dev)
install(FILES ${manual}/man7/tessera.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
install(FILES ${manual}/man7/tessera-blas.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7
    COMPONENT libtessera-blas)
install(DIRECTORY ${manual}/doc/ DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The reference of the C library as HTML, among the documents.
find_program(DOXYGEN doxygen)
if(DOXYGEN)
    set(doxygen_errors NO)
    if(TESSERA_WERROR)
        set(doxygen_errors FAIL_ON_WARNINGS)
    endif()
    configure_file(${packaging}/Doxyfile.in ${CMAKE_BINARY_DIR}/Doxyfile @ONLY)
    list(APPEND docs ${manual}/doc/html/index.html)
    add_custom_command(OUTPUT ${manual}/doc/html/index.html
        COMMAND ${DOXYGEN} ${CMAKE_BINARY_DIR}/Doxyfile
        DEPENDS ${pages} ${CMAKE_BINARY_DIR}/Doxyfile
        COMMENT "Making the reference of the C library" VERBATIM)
else()
    message(STATUS "manual: no Doxygen, so no reference as HTML; Debian's doxygen brings it")
endif()
add_custom_target(docs ALL DEPENDS ${docs})

# ---- of the command's help -------------------------------------------------------------------

set(help_files "")
if(CMAKE_CROSSCOMPILING)
    message(STATUS "manual: the command does not run here, so neither its man pages nor completions")
else()
    find_program(HELP2MAN help2man)
    # The pages are those of the commands that there are, so the first stands for all.
    set(help_files ${manual}/bash-completion/completions/tessera
        ${manual}/zsh/site-functions/_tessera ${manual}/fish/vendor_completions.d/tessera.fish)
    set(help2man "")
    if(HELP2MAN)
        set(help2man ${HELP2MAN})
        list(APPEND help_files ${manual}/man1/tessera.1)
        install(DIRECTORY ${manual}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
    else()
        message(STATUS "manual: no help2man, so no man pages of commands; Debian's help2man brings it")
    endif()
    add_custom_command(OUTPUT ${help_files}
        COMMAND ${python_script} ${packaging}/manual.py $<TARGET_FILE:tessera_command> ${manual}
                ${help2man}
        DEPENDS tessera_command ${packaging}/manual.py ${packaging}/roff.py
        COMMENT "Asking the command for its manual" VERBATIM)
    install(DIRECTORY ${manual}/bash-completion ${manual}/zsh ${manual}/fish
        DESTINATION ${CMAKE_INSTALL_DATADIR})
endif()
add_custom_target(tessera_manual ALL DEPENDS ${help_files})
