/* SPDX-License-Identifier: Apache-2.0 */
#include "web/frame.h"

#include <stdio.h>
#include <string.h>

#include "web/assets/assets.h"

static const struct {
    const char *path, *words;
} navigation[] = {
    { "/", "Overview" },           { "/deployments", "Deployments" },
    { "/sweeps", "Sweeps" },       { "/runs", "Runs" },
    { "/jobs", "Jobs" },           { "/leases", "Leases" },
    { "/audit-log", "Audit log" }, { "/imports", "Imports" },
};

#define ASSET_URL_SIZE 96

static const char *asset_url(const char *name, char out[ASSET_URL_SIZE])
{
    snprintf(out, ASSET_URL_SIZE, "/assets/%s?v=%s", name, asset_find(name)->digest);
    return out;
}

static void write_head(const struct page_answer *answer, struct html *html)
{
    char url[ASSET_URL_SIZE];

    html_open(html, "head");
    html_open(html, "meta", { "charset", "utf-8" });
    html_open(html, "meta", { "name", "viewport" },
              { "content", "width=device-width, initial-scale=1" });
    if (answer->reloads)
        html_open(html, "meta", { "http-equiv", "refresh" }, { "content", "0" });
    html_open(html, "title");
    html_text(html, text_string(&answer->title));
    html_text(html, answer->title.length > 0 ? " · opsbrain" : "opsbrain");
    html_close(html, "title");
    html_open(html, "link", { "rel", "icon" }, { "href", asset_url("icon.svg", url) });
    html_open(html, "link", { "rel", "stylesheet" }, { "href", asset_url("style.css", url) });
    html_open(html, "link", { "rel", "stylesheet" }, { "href", asset_url("chart.css", url) });
    html_open(html, "script", { "type", "module" }, { "src", asset_url("page.js", url) });
    html_close(html, "script");
    html_close(html, "head");
}

/* Returns the value of aria-current for a link: "/runs" is also current on "/runs/run_1", but "/"
 * only on "/". */
static const char *current(const char *path, const char *link)
{
    size_t length = strlen(link);

    if (strcmp(path, link) == 0)
        return "page";
    return length > 1 && strncmp(path, link, length) == 0 && path[length] == '/' ? "true" : NULL;
}

static void write_navigation(const struct page_request *request, struct html *html)
{
    html_open(html, "nav", { "aria-label", "Pages" });
    for (size_t i = 0; i < sizeof navigation / sizeof *navigation; i++)
        html_element(html, "a", navigation[i].words, { "href", navigation[i].path },
                     { "aria-current", current(request->path, navigation[i].path) });
    html_close(html, "nav");
}

static void write_who(const struct page_request *request, struct html *html)
{
    html_open(html, "div", { "class", "who" });
    html_open(html, "span");
    html_name(html, request->principal.name);
    html_textf(html, " (%s)", role_name(request->principal.role));
    html_close(html, "span");
    if (request->may_sign_out) {
        page_form_begin(request, html, "/sign-out");
        html_element(html, "button", "Sign out", { "class", "quiet" });
        html_close(html, "form");
    }
    html_close(html, "div");
}

static void write_top(const struct page_request *request, const struct page_answer *answer,
                      struct html *html)
{
    bool is_known = request->principal.name[0] != '\0';

    html_open(html, "header", { "class", "top" });
    html_element(html, "a", "opsbrain", { "class", "brand" }, { "href", "/" });
    if (is_known || answer->is_refusal)
        write_navigation(request, html);
    if (is_known)
        write_who(request, html);
    html_close(html, "header");
}

void frame_write(const struct page_request *request, const struct page_answer *answer,
                 struct text *out)
{
    const char *follows = answer->follows.length > 0 ? text_string(&answer->follows) : NULL;
    struct html html = html_begin(out);

    text_add(out, "<!doctype html>\n");
    html_open(&html, "html", { "lang", "en" });
    write_head(answer, &html);
    html_open(&html, "body");
    html_element(&html, "a", "Skip to content", { "class", "skip" }, { "href", "#main" });
    write_top(request, answer, &html);
    html_open(&html, "main", { "id", "main" }, { "data-follows", follows });
    html_add_trusted_markup(&html, text_string(&answer->body), answer->body.length);
    html_close(&html, "main");
    html_close(&html, "body");
    html_close(&html, "html");
    html_finish(&html);
}

static const char *heading(unsigned status)
{
    switch (status) {
    case 401:
        return "Sign in first";
    case 403:
        return "Not allowed";
    case 404:
        return "Not found";
    case 429:
        return "Too many requests";
    case 503:
        return "Busy";
    default:
        return status >= 500 ? "Something went wrong" : "That did not work";
    }
}

void frame_refusal(unsigned status, const char *message, struct page_answer *answer)
{
    struct html html = html_begin(&answer->body);

    answer->status = status;
    answer->is_refusal = true;
    text_add(&answer->title, heading(status));
    html_element(&html, "h1", heading(status));
    html_element(&html, "p", message, { "class", "error" });
    html_finish(&html);
}
