# What `cmake --install` puts where, and what a package of it (cpack) needs. All paths are relative to each other, so
# that the whole may be moved:
#
#   bin/unetc
#   lib/unetc/                  the folder that `unetc --runtime` prints: include/unet, libunet_runtime.a, libraries, libraries_shared, door.map, libunet_small.a, libraries_small, and with MPI
#                               libunet_mpi.a, libraries_mpi; with libsodium libunet_secret.a, libraries_secret; with NCCL
#                               libunet_nccl.a, libraries_nccl;
#                               and editors/, syntax files
#   lib/cmake/unetc/            find_package(unetc)
#   lib/pkgconfig/unetc.pc
#   share/man/                  unetc(1), unet-program(1), unet(5), unetc-plan(5)
#   share/bash-completion/, share/zsh/, share/fish/         what these shells complete
#   share/doc/unetc/            what to read, and examples
set(package ${CMAKE_SOURCE_DIR}/runtime/package)
set(home ${CMAKE_INSTALL_LIBDIR}/unetc)
set(doc ${CMAKE_INSTALL_DATAROOTDIR}/doc/unetc)

install(TARGETS unetc RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES ${CMAKE_BINARY_DIR}/lib/libunet_runtime.a ${CMAKE_BINARY_DIR}/lib/libunet_small.a
        ${CMAKE_BINARY_DIR}/lib/libraries_small ${CMAKE_BINARY_DIR}/lib/libraries_shared
        ${CMAKE_BINARY_DIR}/lib/door.map DESTINATION ${home})
if(TARGET unet_cuda)
  install(FILES ${CMAKE_BINARY_DIR}/lib/libunet_cuda.a DESTINATION ${home})
endif()
foreach(way mpi secret nccl)
  if(TARGET unet_${way})
    install(TARGETS unet_${way} ARCHIVE DESTINATION ${home})
    install(FILES ${CMAKE_BINARY_DIR}/lib/libraries_${way} DESTINATION ${home})
  endif()
endforeach()
install(FILES ${CMAKE_BINARY_DIR}/lib/libraries DESTINATION ${home})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/runtime/include/unet DESTINATION ${home}/include)
install(FILES ${package}/unetcConfig.cmake DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/unetc)
file(RELATIVE_PATH UNETC_BIN ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_BINDIR})
file(STRINGS ${CMAKE_BINARY_DIR}/lib/libraries UNETC_LIBRARIES)
configure_file(${package}/unetc.pc.in ${CMAKE_BINARY_DIR}/unetc.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/unetc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${doc} RENAME copyright)
foreach(folder . dsl runtime runtime/python compiler compiler/cuda templates tests tests/bench) # the pages that the first one leads to
  install(FILES ${CMAKE_SOURCE_DIR}/${folder}/README.md DESTINATION ${doc}/${folder})
endforeach()
install(DIRECTORY ${CMAKE_SOURCE_DIR}/dsl/editors DESTINATION ${home} PATTERN words.py EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/compiler/man/unetc.1 ${CMAKE_SOURCE_DIR}/runtime/man/unet-program.1
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_SOURCE_DIR}/compiler/man/unetc-plan.5 ${CMAKE_SOURCE_DIR}/dsl/man/unet.5
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man5)

# What shells complete is what the compiler says, under the names by which they look for it. Under /usr, the prefix of
# packages, zsh has a folder of its own on Debian.
set(completions ${CMAKE_BINARY_DIR}/completions)
set(scripts)
foreach(script "bash unetc" "zsh _unetc" "fish unetc.fish")
  separate_arguments(script)
  list(GET script 0 shell)
  list(GET script 1 name)
  add_custom_command(OUTPUT ${completions}/${name} DEPENDS unetc
    COMMAND ${CMAKE_COMMAND} -E make_directory ${completions}
    COMMAND unetc completion ${shell} >${completions}/${name})
  list(APPEND scripts ${completions}/${name})
endforeach()
add_custom_target(completions ALL DEPENDS ${scripts})
install(FILES ${completions}/unetc DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions)
install(FILES ${completions}/unetc.fish DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)
install(CODE "set(zsh site-functions)
  if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\" AND EXISTS /etc/debian_version)
    set(zsh vendor-completions)
  endif()
  file(INSTALL ${completions}/_unetc DESTINATION \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}/zsh/\${zsh})")

install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${doc} FILES_MATCHING PATTERN *.unet PATTERN README.md
        PATTERN cat.png PATTERN from_pytorch.py PATTERN to_pytorch.py PATTERN nnunet.py REGEX /converter/[a-z]+[.]py$)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples/embed DESTINATION ${doc}/examples)

# The package needs what unetc runs: a C compiler, and the libraries that programs are linked with.
set(CPACK_PACKAGE_NAME unetc)
set(CPACK_PACKAGE_VERSION ${unetc_VERSION})
set(CPACK_PACKAGE_CONTACT "The unetc project")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler for U-Nets: training and prediction in one fixed buffer")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
find_program(DPKG_SHLIBDEPS dpkg-shlibdeps)
if(DPKG_SHLIBDEPS) # tells of which version the C library must be at least
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "gcc, libc6-dev, libpng-dev, zlib1g-dev, libjansson-dev${packages}")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "cmake, make")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "g++, pkg-config")
include(CPack)
