/* SPDX-License-Identifier: Apache-2.0 */
/* Shell completion. The scripts call `opsbrain complete`, so they always offer the commands of the
 * installed program. */

#include <stdio.h>
#include <string.h>

#include "client/command/client.h"
#include "client/command/client_commands.h"
#include "client/command/tool_words.h"
#include "handlers/tool.h"

static const struct {
    const char *shell, *script;
} scripts[] = {
    { "bash", "_opsbrain() {\n"
              "    local IFS=$'\\n'\n"
              "    COMPREPLY=($(compgen -W \"$(opsbrain complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" "
              "2>/dev/null)\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
              "}\n"
              "complete -o default -F _opsbrain opsbrain\n" },
    /* The (@) keeps an empty last word. */
    { "zsh", "#compdef opsbrain\n"
             "_opsbrain() {\n"
             "    local -a found\n"
             "    found=(${(f)\"$(opsbrain complete \"${(@)words[2,CURRENT]}\" 2>/dev/null)\"})\n"
             "    compadd -a found || _files\n"
             "}\n"
             "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n"
             "compdef _opsbrain opsbrain\n" },
    { "fish", "function __opsbrain\n"
              "    set -l given (commandline -opc) (commandline -ct)\n"
              "    set -l found (opsbrain complete $given[2..-1] 2>/dev/null)\n"
              "    if set -q found[1]\n"
              "        printf '%s\\n' $found\n"
              "    else\n"
              "        __fish_complete_path (commandline -ct)\n"
              "    end\n"
              "end\n"
              "complete -c opsbrain -f -a '(__opsbrain)'\n" },
};

bool client_completion_help(struct text *out, struct error *error)
{
    (void)error;
    text_add(out,
             "  opsbrain completion bash|zsh|fish\n"
             "      Prints a script that lets a shell complete commands, flags and choices:\n\n"
             "  bash: source <(opsbrain completion bash)\n"
             "  zsh: source <(opsbrain completion zsh)\n"
             "  fish: opsbrain completion fish | source\n");
    return true;
}

int client_completion(int argc, char *const *argv)
{
    if (client_asks_for_help(argc, argv))
        return client_help_show("completion");
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (argc == 2 && strcmp(argv[1], scripts[i].shell) == 0) {
            fputs(scripts[i].script, stdout);
            return STATUS_DONE;
        }
    fputs("opsbrain: completion takes bash, zsh or fish; "
          "opsbrain help completion shows how to set it up\n",
          stderr);
    return STATUS_USAGE;
}

/* ---- Candidates ---- */

const char *const client_fixed_commands[] = {
    "serve", "key",  "principal", "secret", "audit-log", "clock", "backup", "restore",    "move",
    "watch", "help", "version",   "call",   "tools",     "login", "logout", "completion", NULL
};

/* Prints a candidate if it begins with what was typed. */
static void offer(const char *typed, const char *candidate)
{
    if (strncmp(candidate, typed, strlen(typed)) == 0)
        puts(candidate);
}

static void offer_commands(const char *typed)
{
    const char *last = "";

    for (size_t i = 0; client_fixed_commands[i] != NULL; i++)
        offer(typed, client_fixed_commands[i]);
    for (const struct tool_word *word = tool_words; word->name != NULL; word++) {
        if (strcmp(word->name, last) != 0 && tool_find(word->tool) != NULL)
            offer(typed, word->name);
        last = word->name;
    }
    for (size_t i = 0; typed[0] != '\0' && tools[i] != NULL; i++)
        offer(typed, tools[i]->name);
}

/* Commands with flags of their own, in addition to those of the tool whose arguments they take. */
#define OWN_FLAGS_MAX 9
static const struct {
    const char *command, *tool;
    const char *flags[OWN_FLAGS_MAX]; /* ends with NULL */
} own_flags[] = {
    { "bench",
      "sweep_start",
      { "--users", "--context", "--output-length", "--window", "--yes", "--output", "--data" } },
    { "watch", "metrics_show", { "--interval", "--count" } },
    { "report", "run_report", { "--all" } },
};

static const struct tool *tool_of(const char *command)
{
    const struct tool_word *word;

    for (size_t i = 0; i < sizeof own_flags / sizeof *own_flags; i++)
        if (strcmp(own_flags[i].command, command) == 0)
            return tool_find(own_flags[i].tool);
    word = tool_word_find(command, 0);
    return tool_find(word != NULL ? word->tool : command);
}

static void write_flag(const char *param, struct text *out)
{
    text_add(out, "--");
    for (; *param != '\0'; param++)
        text_add_char(out, *param == '_' ? '-' : *param);
}

static void offer_own_flags(const char *command, const char *typed)
{
    for (size_t i = 0; i < sizeof own_flags / sizeof *own_flags; i++)
        for (size_t j = 0;
             strcmp(own_flags[i].command, command) == 0 && own_flags[i].flags[j] != NULL; j++)
            offer(typed, own_flags[i].flags[j]);
}

static void offer_flags(const struct tool *tool, const char *typed)
{
    for (const struct param *param = tool->params; param->name != NULL; param++) {
        TEXT_AUTO flag = { 0 };

        write_flag(param->name, &flag);
        offer(typed, text_string(&flag));
    }
    offer(typed, "--json");
    offer(typed, "--help");
}

/* Offers the choices for a flag's value; false: the flag has none. */
static bool offer_choices(const struct tool *tool, const char *flag, const char *typed)
{
    for (const struct param *param = tool->params; param->name != NULL; param++) {
        TEXT_AUTO name = { 0 };

        write_flag(param->name, &name);
        if (param->type != VALUE_CHOICE || strcmp(text_string(&name), flag) != 0)
            continue;
        for (size_t i = 0; param->choices[i] != NULL; i++)
            offer(typed, param->choices[i]);
        return true;
    }
    return false;
}

/* `opsbrain complete WORD...`: the words are those typed after "opsbrain". The last one is still
 * being typed, and can be empty. */
int client_complete(int argc, char *const *argv)
{
    const char *typed = argc > 1 ? argv[argc - 1] : "";
    bool is_call = argc > 2 && strcmp(argv[1], "call") == 0;
    const struct tool *tool;

    if (argc <= 2 || strcmp(argv[1], "help") == 0) {
        offer_commands(typed);
        return STATUS_DONE;
    }
    for (size_t i = 0; is_call && argc == 3 && tools[i] != NULL; i++)
        offer(typed, tools[i]->name);
    tool = tool_of(argv[is_call ? 2 : 1]);
    if (tool == NULL || offer_choices(tool, argv[argc - 2], typed))
        return STATUS_DONE;
    if (typed[0] == '-') {
        offer_own_flags(argv[1], typed);
        offer_flags(tool, typed);
    }
    return STATUS_DONE;
}
