# Writes ${OUT}, a header with git's name of the commit, where that has changed: cmake -DSOURCE=... -DOUT=... -P commit.cmake
cmake_minimum_required(VERSION 3.18)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=* OUTPUT_VARIABLE commit RESULT_VARIABLE status
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT status EQUAL 0 OR NOT EXISTS ${SOURCE}/.git)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#define SA_COMMIT \"@commit@\"\n" @ONLY)
