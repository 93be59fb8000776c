# Turns every template into a string of the compiler:  templates/cpu/conv.c -> entry {"cpu/conv.c", "..."}.
# Usage: cmake -DOUTPUT=templates.c -DROOT=templates [-DMORE=another folder like it] -P embed.cmake
set(text "/* Made from templates/ by embed.cmake. */\n#include \"emit/template.h\"\n\nconst Template templates[] = {\n")
foreach(root ${ROOT} ${MORE})
  file(GLOB files RELATIVE ${root} ${root}/*/*.c ${root}/*/*.h ${root}/*/*.cu ${root}/*/*.cuh ${root}/*/*.in)
  list(SORT files)
  foreach(file ${files})
    file(READ ${root}/${file} body HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," body "${body}")
    string(APPEND text "    {\"${file}\", (const char[]){${body}0}},\n")
  endforeach()
endforeach()
string(APPEND text "    {0, 0},\n};\n")
file(WRITE ${OUTPUT} "${text}")
