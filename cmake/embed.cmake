# Write the files FILES of the folder FOLDER (a |-separated list, which may be empty) into the C source OUTPUT as the
# table STEMs[] of STEM_count entries (host/session/embedded.h).  Run by cmake -P at build time.

string(REPLACE "|" ";" FILES "${FILES}")
set(arrays "")
set(table "")
set(count 0)
foreach(file IN LISTS FILES)
    file(RELATIVE_PATH name "${FOLDER}" "${file}")
    file(READ "${file}" hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "static const char file_${count}[] = {${bytes}0};\n")
    string(APPEND table "    {\"${name}\", file_${count}},\n")
    math(EXPR count "${count} + 1")
endforeach()
# The last entry is none: C has no empty array.
file(WRITE "${OUTPUT}" "#include \"session/embedded.h\"\n\n${arrays}\n"
    "const embedded_file ${STEM}s[] = {\n${table}    {0, 0}};\n"
    "const size_t ${STEM}_count = ${count};\n")
