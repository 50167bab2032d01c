/* SPDX-License-Identifier: Apache-2.0 */
#include "web/sign_in.h"

void sign_in_write(const struct page_request *request, const char *to, const char *why,
                   struct page_answer *answer)
{
    struct html html = html_begin(&answer->body);

    text_add(&answer->title, "Sign in");
    html_element(&html, "h1", "Sign in");
    if (why != NULL)
        html_element(&html, "p", why, { "class", "error" }, { "role", "alert" });
    page_form_begin(request, &html, "/sign-in");
    html_open(&html, "input", { "type", "hidden" }, { "name", "to" }, { "value", to });
    /* A password manager stores the key under this name. */
    html_open(&html, "input", { "name", "username" }, { "value", "opsbrain" },
              { "autocomplete", "username" }, { "hidden", "" });
    html_open(&html, "label");
    html_text(&html, "API key");
    html_element(&html, "span",
                 "It begins with obk_. An administrator creates keys with: opsbrain key add",
                 { "class", "hint" });
    html_open(&html, "input", { "type", "password" }, { "name", "key" }, { "required", "" },
              { "autofocus", "" }, { "autocomplete", "current-password" });
    html_close(&html, "label");
    html_open(&html, "p");
    html_element(&html, "button", "Sign in");
    html_close(&html, "p");
    html_close(&html, "form");
    html_finish(&html);
}
