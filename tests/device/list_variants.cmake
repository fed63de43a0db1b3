# After the program is built: write the tests of its variants, as the program itself lists them, for
# ctest to read.  A new variant is tested without being named anywhere.
#
#     cmake -DSETTINGS=FILE -P list_variants.cmake
#
# SETTINGS sets `tessera`, `python`, `out`, `sanitized`, `folder` (tests/), `oclgrind` (its library, or
# nothing), `environment` and `skip` (properties of every test).  The tests are:
#
#     device/OP/host          all variants in C, on the host
#     device/OP/VARIANT       one of those that serve CPUs, on PoCL
#     device/OP/VARIANT       device/verify_variant.py; under a sanitizer, where to start PoCL is most
#     device/OP/kernels       of the time, one process has all of them
#     oclgrind/OP/VARIANT     oclgrind/sweep.py
#
# A variant whose kernels are in another operation's folder has its tests there.
cmake_minimum_required(VERSION 3.19)
include(${SETTINGS})

set(text "")
function(write_test name label timeout cost)
    list(JOIN ARGN "]==] [==[" command)
    string(APPEND text "add_test([==[${name}]==] [==[${command}]==])\n"
        "set_tests_properties([==[${name}]==] PROPERTIES LABELS ${label} TIMEOUT ${timeout} "
        "COST ${cost} ${skip} ENVIRONMENT [==[${environment}]==])\n")
    set(text "${text}" PARENT_SCOPE)
endfunction()

execute_process(COMMAND ${tessera} kernels --json --device host OUTPUT_VARIABLE listing
    COMMAND_ERROR_IS_FATAL ANY)
string(JSON operations LENGTH "${listing}" operations)
math(EXPR last_operation "${operations} - 1")
foreach(i RANGE ${last_operation})
    string(JSON op GET "${listing}" operations ${i} op)
    set(extent "")
    if(sanitized)
        set(extent --tiny --defaults)
    endif()
    write_test(device/${op}/host device 1800 20 ${tessera} verify ${op} --device host ${extent})
    string(JSON variants LENGTH "${listing}" operations ${i} variants)
    math(EXPR last_variant "${variants} - 1")
    set(kernels "")
    foreach(j RANGE ${last_variant})
        string(JSON variant GET "${listing}" operations ${i} variants ${j} name)
        string(JSON side GET "${listing}" operations ${i} variants ${j} runs_on)
        string(JSON tunables LENGTH "${listing}" operations ${i} variants ${j} tunables)
        if(side STREQUAL "host and CPUs")
            write_test(device/${op}/${variant} device 1800 20
                ${tessera} verify ${op} --device cpu --kernel ${variant} ${extent})
        endif()
        if(NOT side STREQUAL device OR NOT python)
            continue()
        endif()
        string(JSON file GET "${listing}" operations ${i} variants ${j} file)
        if(NOT file MATCHES "^${op}/")
            continue()
        endif()
        # The more there is to vary, the longer: it starts first.
        math(EXPR cost "100 + ${tunables}")
        if(sanitized)
            list(APPEND kernels ${variant})
        else()
            write_test(device/${op}/${variant} device 1800 ${cost}
                ${python} ${folder}/device/verify_variant.py ${op} ${variant})
        endif()
        if(oclgrind)
            write_test(oclgrind/${op}/${variant} oclgrind 900 ${cost}
                ${python} ${folder}/oclgrind/sweep.py ${op} ${variant})
        endif()
    endforeach()
    if(kernels)
        write_test(device/${op}/kernels device 1800 200
            ${python} ${folder}/device/verify_variant.py ${op} ${kernels})
    endif()
endforeach()
file(WRITE ${out} "${text}")
