# `cmake --build BUILD --target package`: an archive of all that is installed and, where there is
# dpkg, a Debian package of each component, for /usr.  The packages of debian/ are the same by
# Debian's own tools, with symbols files and the alternative of libblas.so.3.

set(CPACK_GENERATOR TGZ)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS)
    list(APPEND CPACK_GENERATOR DEB)
endif()
set(CPACK_PACKAGE_CONTACT "The Tessera authors <tessera@tessera.invalid>")
set(CPACK_PACKAGE_VENDOR "The Tessera authors")
set(CPACK_PACKAGE_DESCRIPTION_FILE ${CMAKE_SOURCE_DIR}/README.md)
set(CPACK_RESOURCE_FILE_LICENSE ${CMAKE_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGE_FILE_NAME tessera-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

# package(COMPONENT NAME SECTION "what it has" OPTION VALUE...): the options of CPack's CPACK_DEBIAN_*.
set(CPACK_COMPONENTS_ALL "")
function(package component name section summary)
    list(APPEND CPACK_COMPONENTS_ALL ${component})
    string(TOUPPER ${component} prefix)
    set(options PACKAGE_NAME ${name} PACKAGE_SECTION ${section} ${ARGN})
    set(CPACK_COMPONENT_${prefix}_DESCRIPTION "${PROJECT_DESCRIPTION}: ${summary}" PARENT_SCOPE)
    while(options)
        list(POP_FRONT options option value)
        set(CPACK_DEBIAN_${prefix}_${option} "${value}" PARENT_SCOPE)
    endwhile()
    set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} PARENT_SCOPE)
endfunction()

set(library libtessera${api_version})
set(same_library "${library} (= ${PROJECT_VERSION})")
set(icd "pocl-opencl-icd | opencl-icd")
package(libtessera ${library} libs "the shared library" PACKAGE_RECOMMENDS "${icd}")
package(libtessera-dev libtessera-dev libdevel "headers and the static library" PACKAGE_DEPENDS
    "${same_library}, libtessera-blas (= ${PROJECT_VERSION}), ocl-icd-opencl-dev, opencl-c-headers, libjansson-dev, libpng-dev")
package(tessera tessera science "the command" PACKAGE_RECOMMENDS "${icd}"
    PACKAGE_SUGGESTS "libtessera-blas")
package(libtessera-blas libtessera-blas libs "BLAS for existing programs"
    PACKAGE_DEPENDS "${same_library}, libblas3 | libopenblas0 | libblis4")
# It is found where this build is for /usr and for the interpreter there.
if(TARGET tessera_python AND TESSERA_PYTHON_DIR MATCHES "^lib/python3/")
    package(python3-tessera python3-tessera python "the Python module"
        PACKAGE_DEPENDS "python3 (>= 3.11)" PACKAGE_RECOMMENDS "${icd}, python3-numpy")
endif()
get_property(peers GLOBAL PROPERTY TESSERA_PEER_MODULES)
if(peers)
    package(tessera-peers tessera-peers science "other libraries, for bench --peers"
        PACKAGE_DEPENDS "tessera (= ${PROJECT_VERSION})")
endif()

include(CPack)
