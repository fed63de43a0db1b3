# Write blas_entries.c, the functions of blas/routines.txt, and blas_symbols.map, the symbols that
# libtessera-blas exports, to the folder OUTPUT.  Run by cmake -P at build time.
#
# A function of levels 1 and 2 is a jump to the CPU's BLAS.  One of level 3 first asks whether the
# device takes the call (blas/level3.h).  blas/entries.h has what they are made of.

set(real_of_s s)
set(real_of_d d)
set(real_of_c s)
set(real_of_z d)
set(type_s float)
set(type_d double)
set(type_c "float _Complex")
set(type_z "double _Complex")

file(STRINGS "${CMAKE_CURRENT_LIST_DIR}/routines.txt" lines REGEX "^[123] ")
set(declarations "")
set(targets "")
set(functions "")
set(symbols "")
set(count 0)

# add_function(MACRO NAME RESULT PARAMETERS ARGUMENTS SIZES CALL FORTRAN): the function MACRO(NAME).  Its
# first call looks the CPU's function up.  Of level 3 are SIZES, m | n | k, CALL, the initialiser of a
# blas_call, and FORTRAN, the number of the CPU's function in Fortran's calling sequence; of the others
# they are empty.
macro(add_function macro name result parameters arguments sizes call fortran)
    set(jump "((${result} (*)(${parameters}))target(${count}))(${arguments});\n")
    if("${result}" STREQUAL void)
        set(return_jump "    ${jump}")
    else()
        set(return_jump "    return ${jump}")
    endif()
    string(APPEND declarations "static ${result} first_${count}(${parameters});\n")
    string(APPEND targets "    (blas_function)first_${count},\n")
    if(NOT "${call}" STREQUAL "")
        # A function of its own: a small call saves fewer registers on its way.
        string(APPEND functions
            "\nstatic __attribute__((noinline)) void look_${count}(${parameters})\n{\n"
            "    blas_call call = {${call}, .fortran = target(${fortran})};\n\n"
            "    if (!blas_level3(&call)) {\n        ${jump}"
            "        blas_forwarded(&call);\n    }\n}\n")
    endif()
    string(APPEND functions "\n${result} ${macro}(${name})(${parameters})\n{\n")
    if(NOT "${call}" STREQUAL "")
        string(APPEND functions "    const blas_call call = {${call}};\n\n"
            "    if (!blas_is_small(BLAS_${routine}, ${sizes}) || !blas_is_legal(call)) {\n"
            "        look_${count}(${arguments});\n        return;\n    }\n")
    endif()
    string(APPEND functions "${return_jump}}\n\n"
        "static ${result} first_${count}(${parameters})\n{\n"
        "    blas_cpu_resolve(&targets[${count}], STRING(${macro}(${name})), sizeof(blas_int));\n"
        "${return_jump}}\n")
    math(EXPR count "${count} + 1")
endmacro()

foreach(line IN LISTS lines)
    string(REGEX MATCH "^([123]) +([a-zA-Z0-9]+) +([sdcz]+) +([^=]*[^= ]) *(= *(T|R|index))?$" ok
        "${line}")
    if(NOT ok)
        message(FATAL_ERROR "routines.txt: ${line}")
    endif()
    set(level ${CMAKE_MATCH_1})
    set(pattern ${CMAKE_MATCH_2})
    set(types ${CMAKE_MATCH_3})
    set(arguments "${CMAKE_MATCH_4}")
    set(result "${CMAKE_MATCH_6}")
    string(REGEX MATCHALL "." types ${types})
    string(REGEX MATCHALL "[^ ]+" arguments "${arguments}")

    foreach(type IN LISTS types)
        set(real ${real_of_${type}})
        string(REPLACE T ${type} name ${pattern})
        string(REPLACE R ${real} name ${name})

        set(f_parameters "") # of the function in Fortran's calling sequence
        set(f_lengths "")    # of its letters: hidden arguments behind the others
        set(f_arguments "")
        set(f_lengths_passed "")
        set(f_call "")       # initialisers of blas_call
        set(f_sizes "")
        set(c_parameters "") # of the function in C's
        set(c_arguments "")
        set(c_sizes "")
        set(c_call "")
        if(level GREATER 1)
            set(c_parameters "int layout")
            set(c_arguments "layout")
        endif()
        foreach(argument IN LISTS arguments)
            string(REPLACE "real:" "" plain ${argument})
            set(read "${plain}") # how C's function reads it
            set(f_read "*${plain}")
            if(argument MATCHES "^(side|uplo|trans|transa|transb|diag)$")
                set(f_kind "const char *")
                set(c_kind "int ")
                string(APPEND f_lengths ", size_t length_${plain}")
                string(APPEND f_lengths_passed ", length_${plain}")
            elseif(argument MATCHES "^(m|n|k|kl|ku|inc.|ld.)$")
                set(f_kind "const blas_int *")
                set(c_kind "blas_int ")
                if(argument MATCHES "^[mnk]$")
                    string(APPEND f_sizes " | *${plain}")
                    string(APPEND c_sizes " | ${plain}")
                endif()
            elseif(argument MATCHES "^(alpha|beta)$" AND type MATCHES "[cz]")
                set(f_kind "const void *")
                set(c_kind "const void *")
                set(f_read "number_${type}(${plain})")
                set(read "number_${type}(${plain})")
            elseif(argument MATCHES "^(alpha|beta|real:.*)$")
                set(f_kind "const void *")
                set(c_kind "${type_${real}} ")
                set(f_read "number_${real}(${plain})")
                set(read "{${plain}, 0}")
            else()
                set(f_kind "void *")
                set(c_kind "void *")
                set(f_read "${plain}")
            endif()
            string(APPEND f_parameters ", ${f_kind}${plain}")
            string(APPEND f_arguments ", ${plain}")
            string(APPEND c_parameters ", ${c_kind}${plain}")
            string(APPEND c_arguments ", ${plain}")
            string(APPEND f_call ", .${plain} = ${f_read}")
            string(APPEND c_call ", .${plain} = ${read}")
        endforeach()

        set(f_result void)
        set(c_result void)
        set(c_name ${name})
        if(result STREQUAL T AND type MATCHES "[cz]")
            set(f_result "${type_${type}}")
            string(APPEND c_parameters ", void *result")
            string(APPEND c_arguments ", result")
            set(c_name ${name}_sub)
        elseif(result STREQUAL T OR result STREQUAL R)
            set(f_result ${type_${real}})
            set(c_result ${type_${real}})
        elseif(result STREQUAL index)
            set(f_result blas_int)
            set(c_result size_t)
        endif()

        if(level EQUAL 3)
            string(REGEX REPLACE "^T" "" routine ${pattern})
            string(TOUPPER ${routine} routine)
            set(in_fortran ${count})
            set(always ".routine = BLAS_${routine}, .type = '${type}', .name = \"${name}\", .integer_bytes = sizeof(blas_int)")
            string(PREPEND f_call "${always}")
            string(PREPEND c_call "${always}, .in_c = true, .layout = layout")
        else()
            set(f_call "")
            set(c_call "")
        endif()
        foreach(list f_parameters f_arguments f_sizes c_parameters c_arguments c_sizes)
            string(REGEX REPLACE "^(, | [|] )" "" ${list} "${${list}}")
        endforeach()
        add_function(FORTRAN ${name} "${f_result}" "${f_parameters}${f_lengths}"
            "${f_arguments}${f_lengths_passed}" "${f_sizes}" "${f_call}" "${in_fortran}")
        add_function(CBLAS ${c_name} "${c_result}" "${c_parameters}" "${c_arguments}"
            "${c_sizes}" "${c_call}" "${in_fortran}")
        string(APPEND symbols "    ${name}_; ${name}_64_; cblas_${c_name}; cblas_${c_name}64_;\n")
    endforeach()
endforeach()

file(WRITE "${OUTPUT}/blas_entries.c" "#include \"blas/entries.h\"\n\n${declarations}\n"
    "static blas_target targets[] = {\n${targets}};\n${functions}")
file(WRITE "${OUTPUT}/blas_symbols.map" "{\nglobal:\n${symbols}"
    "    xerbla_; xerbla_array_; lsame_; cblas_xerbla; RowMajorStrg; CBLAS_CallFromC;\n"
    "    tsr_blas_keep; tsr_blas_drop;\n"
    "local:\n    *;\n};\n")
