# Installing: both libraries, headers, command, CMake package and pkg-config files.
#
# The components are the packages that they go into; what names none is the command's.

include(CMakePackageConfigHelpers)

# Each its own list of targets: who uses the shared library need not have what the static one asks
# for.
install(TARGETS tessera EXPORT tesseraTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    COMPONENT libtessera NAMELINK_COMPONENT libtessera-dev)
install(TARGETS tessera_static EXPORT tesseraStaticTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT libtessera-dev)
install(TARGETS tessera_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT libtessera-dev)
# The README comes with the other documents: see manual.cmake.
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${package_dir}
    COMPONENT libtessera-dev)
install(EXPORT tesseraStaticTargets NAMESPACE tessera:: DESTINATION ${package_dir}
    COMPONENT libtessera-dev)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/tesseraConfig.cmake.in
    ${CMAKE_BINARY_DIR}/tesseraConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tesseraConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tesseraConfig.cmake ${CMAKE_BINARY_DIR}/tesseraConfigVersion.cmake
    DESTINATION ${package_dir} COMPONENT libtessera-dev)

# The prefix is known only when it is installed (cmake --install --prefix), so the file finds it
# from where it stands itself.
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}")
    set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
    file(RELATIVE_PATH pc_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
    string(REGEX REPLACE "/$" "" pc_prefix "\${pcfiledir}/${pc_prefix}")
endif()
foreach(dir libdir includedir)
    string(TOUPPER "CMAKE_INSTALL_${dir}" wanted)
    if(IS_ABSOLUTE "${${wanted}}")
        set(pc_${dir} "${${wanted}}")
    else()
        set(pc_${dir} "\${prefix}/${${wanted}}")
    endif()
endforeach()
# tessera.pc links the shared library, tessera-static.pc the static one with what it uses itself.
set(pc_own_libs "-ljansson -lm -ldl")
if(PNG_FOUND)
    string(APPEND pc_own_libs " -lpng")
endif()
if(OpenMP_C_FOUND)
    string(APPEND pc_own_libs " ${OpenMP_C_FLAGS}")
endif()
set(pc_libs "-L\${libdir} -ltessera")
configure_file(${CMAKE_SOURCE_DIR}/cmake/tessera.pc.in ${CMAKE_BINARY_DIR}/tessera.pc @ONLY)
set(pc_libs "\${libdir}/libtessera.a ${pc_own_libs}")
configure_file(${CMAKE_SOURCE_DIR}/cmake/tessera.pc.in ${CMAKE_BINARY_DIR}/tessera-static.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tessera.pc ${CMAKE_BINARY_DIR}/tessera-static.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT libtessera-dev)
