# Write TEMPLATE and CHART (may be empty) into the C source OUTPUT as the arrays of
# host/measure/report_parts.h.  Run by cmake -P at build time.

function(embed name file)
    set(bytes "")
    if(file)
        file(READ "${file}" hex HEX)
        string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    endif()
    file(APPEND "${OUTPUT}" "const unsigned char ${name}[] = {${bytes}0};\n")
endfunction()

file(WRITE "${OUTPUT}" "#include \"measure/report_parts.h\"\n\n")
embed(report_template "${TEMPLATE}")
embed(report_chart_library "${CHART}")
