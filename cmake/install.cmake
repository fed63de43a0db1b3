# Installing: library, headers, command, CMake package and pkg-config file.

include(CMakePackageConfigHelpers)

install(TARGETS tessera EXPORT tesseraTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tessera_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/tessera DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/README.md
    DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tessera)
install(EXPORT tesseraTargets NAMESPACE tessera:: DESTINATION ${package_dir})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/tesseraConfig.cmake.in
    ${CMAKE_BINARY_DIR}/tesseraConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/tesseraConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/tesseraConfig.cmake ${CMAKE_BINARY_DIR}/tesseraConfigVersion.cmake
    DESTINATION ${package_dir})

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
# What the library uses itself a shared one brings along, and a static one leaves to its user.
set(pc_own_libs "-ljansson -lm -ldl")
if(OpenMP_C_FOUND)
    string(APPEND pc_own_libs " ${OpenMP_C_FLAGS}")
endif()
set(pc_libs "")
set(pc_libs_private "")
if(BUILD_SHARED_LIBS)
    set(pc_libs_private " ${pc_own_libs}")
else()
    set(pc_libs " ${pc_own_libs}")
endif()
configure_file(${CMAKE_SOURCE_DIR}/cmake/tessera.pc.in ${CMAKE_BINARY_DIR}/tessera.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
