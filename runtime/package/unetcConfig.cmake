# find_package(unetc): models inside your own programs.
#
#   unetc_add_model(TARGET FILE.unet [OPTION...])
#
# makes the library TARGET of the model, with its header NAME.h (NAME: that of the file). Each OPTION is one of unetc's,
# such as --size=128x128. The file is compiled to C when CMake configures, and again when it changes. Its header takes floats,
# so --staging=f32 holds them whatever files a `data` section names, unless an OPTION says otherwise.
#
# Beside it: unetc::unetc, the compiler; UNETC_RUNTIME, the folder of the runtime library; unetc::runtime, that library.
get_filename_component(UNETC_RUNTIME ${CMAKE_CURRENT_LIST_DIR}/../../unetc ABSOLUTE)
find_program(UNETC_EXECUTABLE unetc HINTS ${CMAKE_CURRENT_LIST_DIR}/../../../bin ${CMAKE_CURRENT_LIST_DIR}/../../../../bin)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(unetc REQUIRED_VARS UNETC_EXECUTABLE UNETC_RUNTIME)

if(unetc_FOUND AND NOT TARGET unetc::runtime)
  add_executable(unetc::unetc IMPORTED)
  set_target_properties(unetc::unetc PROPERTIES IMPORTED_LOCATION ${UNETC_EXECUTABLE})
  add_library(unetc::runtime STATIC IMPORTED)
  file(STRINGS ${UNETC_RUNTIME}/libraries unetc_libraries)
  separate_arguments(unetc_libraries)
  set_target_properties(unetc::runtime PROPERTIES
    IMPORTED_LOCATION ${UNETC_RUNTIME}/libunet_runtime.a
    INTERFACE_INCLUDE_DIRECTORIES ${UNETC_RUNTIME}/include
    INTERFACE_LINK_LIBRARIES "${unetc_libraries}")
endif()

function(unetc_add_model target file)
  get_filename_component(file ${file} ABSOLUTE)
  if(NOT EXISTS ${file})
    message(FATAL_ERROR "unetc_add_model(${target}): there is no file ${file}")
  endif()
  set(sources ${CMAKE_CURRENT_BINARY_DIR}/${target}.model)
  # What is up to date stays, for its objects are.
  file(MD5 ${file} text)
  file(MD5 ${UNETC_EXECUTABLE} compiler)
  set(stamp "${file} ${text} ${compiler} ${ARGN}")
  set(made "")
  if(EXISTS ${sources}/made)
    file(READ ${sources}/made made)
  endif()
  if(NOT made STREQUAL stamp)
    file(REMOVE_RECURSE ${sources})
    execute_process(COMMAND ${UNETC_EXECUTABLE} -S ${sources} --staging=f32 ${ARGN} -- ${file}
                    RESULT_VARIABLE result ERROR_VARIABLE said)
    if(said)
      message(NOTICE "${said}")
    endif()
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "unetc cannot compile ${file}, see above")
    endif()
    file(WRITE ${sources}/made "${stamp}")
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file} ${UNETC_EXECUTABLE})
  set(UNET_RUNTIME ${UNETC_RUNTIME})
  set(UNET_LIBRARY ${target})
  add_subdirectory(${sources} ${target}.build)
endfunction()
