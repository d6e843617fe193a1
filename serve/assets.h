/* Files of serve/assets, which the build turns into arrays. */
#ifndef SERVE_ASSETS_H
#define SERVE_ASSETS_H

#include <stddef.h>

typedef struct asset {
    const unsigned char *bytes;
    size_t size;
} sv_asset;

extern const sv_asset asset_page_html, asset_page_js, asset_agent_js, asset_charts_js, asset_page_css,
    asset_openapi_json;

#endif
