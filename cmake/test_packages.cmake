# Looks for the packages that the tests need and the program does not. What is not here is listed in
# missing_test_packages, by the names of Debian's packages.

set(missing_test_packages)
if(WEIR_TESTS AND NOT WEIR_FUZZ)
  find_package(GTest QUIET)
  find_package(rapidcheck QUIET)
  pkg_check_modules(grpc QUIET grpc++ protobuf)
  find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin)
  foreach(each GTest_FOUND:libgtest-dev rapidcheck_FOUND:librapidcheck-dev grpc_FOUND:libgrpc++-dev
      GRPC_CPP_PLUGIN:protobuf-compiler-grpc)
    string(REPLACE ":" ";" each ${each})
    list(GET each 0 found)
    list(GET each 1 package)
    if(NOT ${found})
      list(APPEND missing_test_packages ${package})
    endif()
  endforeach()
  list(JOIN missing_test_packages " " missing_test_packages)
endif()
