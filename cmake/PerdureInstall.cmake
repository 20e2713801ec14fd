# What `cmake --install` puts into a prefix: the public headers, one library with all modules that a
# program may need, the program `perdure`, and what find_package(perdure) reads.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# One archive from the objects of the modules: nothing of how they are built (flags, include paths,
# their number) reaches those who link it.
set(installed_modules
    base model provider sqlite open replay replayer runtime signals client testing cli)
list(TRANSFORM installed_modules REPLACE "(.+)" "$<TARGET_OBJECTS:perdure_\\1>"
     OUTPUT_VARIABLE objects)
add_library(perdure_library STATIC ${objects})
set_target_properties(perdure_library PROPERTIES OUTPUT_NAME perdure EXPORT_NAME perdure
                                                 LINKER_LANGUAGE CXX)
target_compile_features(perdure_library INTERFACE cxx_std_20)
target_link_libraries(
  perdure_library
  PUBLIC nlohmann_json::nlohmann_json Threads::Threads
  PRIVATE spdlog::spdlog SQLite::SQLite3)

install(TARGETS perdure_library EXPORT perdureTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS perdure RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/perdure
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/perdure)
install(EXPORT perdureTargets NAMESPACE perdure:: DESTINATION ${package_folder})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/cmake/perdureConfig.cmake.in ${PROJECT_BINARY_DIR}/perdureConfig.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change what programs are compiled against.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/perdureConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/perdureConfig.cmake
              ${PROJECT_BINARY_DIR}/perdureConfigVersion.cmake DESTINATION ${package_folder})
