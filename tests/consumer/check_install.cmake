# Install Tessera into a fresh folder below WORK, build consumer/project against it and run it.
# The folder is named at install time alone, and the tree is moved once it stands.
#
#   SOURCE  Tessera's sources        WORK    folder for builds
#   KIND    static or shared         HOW     cmake or pkg-config
#   BUILT   a build that installs into lib, or empty
#   PYTHON  the interpreter that BUILT has a package for, or empty; PYTHON_DIR is the package's place
#   MANUAL  completions and pages that are there, below share/, "|" between them
#   VERSION, C_COMPILER, GENERATOR, PKG_CONFIG

set(first ${WORK}/${KIND}-${HOW}-first)
set(prefix ${WORK}/${KIND}-${HOW}-final)
set(project ${CMAKE_CURRENT_LIST_DIR}/project)
file(GLOB program ${SOURCE}/tests/*/consumer.c)
set(consumer ${WORK}/${KIND}-${HOW}-consumer)

function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# A build is kept between tests, the installed tree is not.
file(REMOVE_RECURSE ${first} ${prefix} ${consumer})
if(BUILT)
    set(build ${BUILT})
else()
    # How a library is linked, exported and found does not depend on its speed.
    set(build ${WORK}/build)
    run(${CMAKE_COMMAND} -S ${SOURCE} -B ${build} -G ${GENERATOR} -DCMAKE_C_COMPILER=${C_COMPILER}
        -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE=-O0 -DBUILD_TESTING=OFF
        -DTESSERA_PEERS=OFF -DTESSERA_PYTHON=OFF -DCMAKE_INSTALL_LIBDIR=lib)
    run(${CMAKE_COMMAND} --build ${build})
endif()
run(${CMAKE_COMMAND} --install ${build} --prefix ${first})
file(RENAME ${first} ${prefix})
string(REGEX MATCH "^[0-9]+[.][0-9]+" api "${VERSION}")
string(REPLACE "|" ";" manual "${MANUAL}")
list(TRANSFORM manual PREPEND share/)
foreach(file ${manual} share/doc/tessera/LICENSE lib/libtessera.so lib/libtessera.so.${api}
        lib/libtessera.a)
    if(NOT EXISTS ${prefix}/${file})
        message(FATAL_ERROR "${file} is not installed")
    endif()
endforeach()
file(GLOB internal ${prefix}/lib/*internal* ${prefix}/lib/*measure*)
if(internal)
    message(FATAL_ERROR "installed, and no part of the library: ${internal}")
endif()

if(BUILT AND PYTHON)
    # Below the interpreter's own prefix it is found by itself, elsewhere by PYTHONPATH.
    run(${CMAKE_COMMAND} -E env --unset=PYTHONPATH ${PYTHON} -c
        "import sysconfig
place = sysconfig.get_path('platlib')
assert place.endswith('/${PYTHON_DIR}'), place")
    file(GLOB_RECURSE compiled ${prefix}/${PYTHON_DIR}/tessera/*.pyc)
    if(compiled)
        message(FATAL_ERROR "installed, and no source of the package: ${compiled}")
    endif()
    run(${CMAKE_COMMAND} -E env PYTHONPATH=${prefix}/${PYTHON_DIR} ${PYTHON} -B -c
        "import tessera; assert tessera.__file__.startswith('${prefix}/'), tessera.__file__
assert tessera.__version__ == '${VERSION}' and tessera.operations()")
endif()
file(MAKE_DIRECTORY ${consumer})

# The other library is not there when the program runs.
set(target tessera::tessera)
set(module tessera)
file(GLOB others ${prefix}/lib/libtessera.a)
if(KIND STREQUAL static)
    set(target tessera::tessera_static)
    set(module tessera-static)
    file(GLOB others ${prefix}/lib/libtessera.so*)
endif()
if(HOW STREQUAL cmake)
    run(${CMAKE_COMMAND} -S ${project} -B ${consumer} -G ${GENERATOR}
        -DCMAKE_C_COMPILER=${C_COMPILER} -DCMAKE_PREFIX_PATH=${prefix} -DTESSERA=${target}
        -DVERSION=${VERSION} -DPROGRAM=${program})
    run(${CMAKE_COMMAND} --build ${consumer})
else()
    set(ENV{PKG_CONFIG_PATH} ${prefix}/lib/pkgconfig)
    run(${PKG_CONFIG} --exact-version=${VERSION} ${module})
    execute_process(COMMAND ${PKG_CONFIG} --cflags --libs ${module}
        OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    run(${C_COMPILER} -std=c11 -Wall -Wextra -Werror ${program} -o ${consumer}/consumer
        ${flags})
endif()

file(REMOVE ${others})
set(ENV{LD_LIBRARY_PATH} ${prefix}/lib)
execute_process(COMMAND ${consumer}/consumer OUTPUT_VARIABLE out COMMAND_ERROR_IS_FATAL ANY)
if(NOT out STREQUAL "${VERSION}\n58 64 139 154\n")
    message(FATAL_ERROR "the consumer printed '${out}'")
endif()
# The installed command starts too, with nothing of the build folder.
execute_process(COMMAND ${prefix}/bin/tessera --version OUTPUT_VARIABLE out
    COMMAND_ERROR_IS_FATAL ANY)
if(NOT out STREQUAL "tessera ${VERSION}\n")
    message(FATAL_ERROR "the installed command printed '${out}'")
endif()
