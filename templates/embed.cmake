# Turns every template into a string of the compiler:  templates/cpu/conv.c -> entry {"cpu/conv.c", "..."}.
# Usage: cmake -DOUTPUT=templates.c -DROOT=templates -P embed.cmake
file(GLOB files RELATIVE ${ROOT} ${ROOT}/*/*.c ${ROOT}/*/*.h ${ROOT}/*/*.cu ${ROOT}/*/*.cuh ${ROOT}/*/*.in)
list(SORT files)
set(text "/* Made from templates/ by embed.cmake. */\n#include \"template.h\"\n\nconst Template templates[] = {\n")
foreach(file ${files})
  file(READ ${ROOT}/${file} body HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," body "${body}")
  string(APPEND text "    {\"${file}\", (const char[]){${body}0}},\n")
endforeach()
string(APPEND text "    {0, 0},\n};\n")
file(WRITE ${OUTPUT} "${text}")
