# cmake -DNAME=page_html -DFROM=file -DTO=file.c -P embed.cmake: the file's bytes as `const sv_asset asset_NAME`.
file(READ ${FROM} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
string(REGEX REPLACE "(0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],0x[0-9a-f][0-9a-f],)" "\\1\n" bytes "${bytes}")
file(WRITE ${TO} "#include \"assets.h\"\nstatic const unsigned char bytes[] = {\n${bytes}0};\n"
     "const sv_asset asset_${NAME} = {bytes, sizeof bytes - 1};\n")
