# Adds the tests of one GoogleTest executable. ctest reads this when it starts, so that a sanitizer's finding fails a
# test and not the build. The including file sets `program`, `folder` and `kind`.
#
# A suite is one test, because starting a process takes longer than most suites. Properties, stress tests and
# comparisons of the Redis script with the core take long, so each of these is a separate test, and they run in
# parallel.

if(NOT EXISTS "${program}")
  get_filename_component(name "${program}" NAME)
  add_test("${name}_NOT_BUILT" "${name}_NOT_BUILT")
  return()
endif()

set(list "${program}.list")
if("${program}" IS_NEWER_THAN "${list}")  # otherwise there is no list
  execute_process(COMMAND "${program}" --gtest_list_tests OUTPUT_VARIABLE listed RESULT_VARIABLE result TIMEOUT 60)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${program} --gtest_list_tests: ${result}")
  endif()
  file(WRITE "${list}" "${listed}")
endif()

set(is_long OFF)
if("${folder}:${kind}" MATCHES ":(property|stress)$|^store_redis:conformance$")
  set(is_long ON)
endif()

file(STRINGS "${list}" lines)
foreach(line IN LISTS lines)
  string(REGEX REPLACE " *#.*" "" line "${line}")  # values and types of parameters
  if(line MATCHES "^([^ ]+)\\.$")
    set(suite "${CMAKE_MATCH_1}")
    if(is_long)
      continue()
    endif()
    set(test "${suite}")
    set(filter "${suite}.*")
  elseif(is_long AND line MATCHES "^  ([^ ]+)$")
    set(test "${suite}.${CMAKE_MATCH_1}")
    set(filter "${test}")
  else()
    continue()
  endif()
  add_test("${folder}.${test}" "${program}" "--gtest_filter=${filter}")
  set_tests_properties("${folder}.${test}" PROPERTIES LABELS "${kind}" TIMEOUT 600 PROCESSORS 2
    SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]" FAIL_REGULAR_EXPRESSION "\\] 0 tests from ")
endforeach()
