/* command_line_completion.c - writes a script by which bash, zsh or fish completes a command line, from its
 * grammar. */
#include "command_line_page.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* ---- what the grammar says ------------------------------------------------------------------------ */

typedef enum { NO_WORDS, WORDS, FOLDERS, FILES } Values;

static bool is_among(const char *name, const char *const *list) {
    for (; *list != NULL; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

/* By how the help writes the value: "text|json", "DIR", "FILE", "N". */
static Values values_of(const UnetOptionRow *row) {
    static const char *const folders[] = {"DIR", NULL};
    static const char *const files[] = {"FILE", "PROG", "OUT", "MODEL.onnx", NULL};
    if (row->value == NULL)
        return NO_WORDS;
    return strchr(row->value, '|') != NULL ? WORDS
           : is_among(row->value, folders) ? FOLDERS
           : is_among(row->value, files)   ? FILES
                                           : NO_WORDS;
}

/* The words among "auto|off|N" and "cpu|cuda[:ARCH]": what stands for a number, or in brackets, is none. */
static void print_words(UnetPage *script, const char *value) {
    const char *separator = "";
    while (*value != '\0') {
        const size_t length = strcspn(value, "|"), word = strcspn(value, "|[");
        if (word > 0 && !isupper((unsigned char)*value)) {
            unet_page_print(script, "%s%.*s", separator, (int)word, value);
            separator = " ";
        }
        value += length + (value[length] == '|');
    }
}

/* Commands that are listed; others are there for a purpose of their own. */
static bool is_listed(const UnetGrammar *grammar, int command) {
    const UnetCommandRow *row = &grammar->command[command];
    return row->name != NULL && (row->help != NULL || command == grammar->help_command);
}

static const char *name_of(const UnetGrammar *grammar, int command) {
    return grammar->command[command].name != NULL ? grammar->command[command].name : "";
}

/* A word behind the command: a command, of help; a file; one of several words; or nothing that is known. */
static Values words_behind(const UnetGrammar *grammar, int command) {
    const char *arguments = grammar->command[command].arguments;
    return strstr(arguments, "FILE.") != NULL || strstr(arguments, "IN") != NULL ? FILES
           : command == grammar->help_command || strchr(arguments, '|') != NULL  ? WORDS
                                                                                 : NO_WORDS;
}

static void print_commands(UnetPage *script, const UnetGrammar *grammar, const char *separator) {
    const char *before = "";
    for (int c = 0; c < grammar->ncommand; c++)
        if (is_listed(grammar, c)) {
            unet_page_print(script, "%s%s", before, grammar->command[c].name);
            before = separator;
        }
}

static void print_words_behind(UnetPage *script, const UnetGrammar *grammar, int command) {
    if (command == grammar->help_command || command == grammar->plain)
        print_commands(script, grammar, " ");
    else if (words_behind(grammar, command) == WORDS)
        print_words(script, grammar->command[command].arguments);
}

/* PROGRAM as a part of a name in the script. */
static void print_name(UnetPage *script, const char *program) {
    for (; *program != '\0'; program++)
        unet_page_print(script, "%c", isalnum((unsigned char)*program) ? *program : '_');
}

/* The function, up to where it knows the command, the first word that is one. */
static void print_head(UnetPage *script, const UnetGrammar *grammar, const char *program,
                       const char *words) {
    unet_page_print(script, "_complete_");
    print_name(script, program);
    unet_page_print(script,
                    "() {\n    local command= word= option= words_of= kind= known=\n"
                    "    for word in %s; do\n        case $word in (",
                    words);
    print_commands(script, grammar, "|");
    unet_page_print(script, ") command=$word; break ;; esac\n    done\n");
}

/* ---- bash ----------------------------------------------------------------------------------------- */

/* A value stands behind `=` or, unless it may be left out, is a word of its own. */
static void print_bash_value(UnetPage *script, const UnetOptionRow *row, const char *command) {
    const Values values = values_of(row);
    unet_page_print(script, "        (%s:%s=", command, row->name);
    if (row->kind != UNET_MAYBE)
        unet_page_print(script, "|%s:%s", command, row->name);
    if (row->letter != 0 && row->name[1] == '-')
        unet_page_print(script, "|%s:-%c", command, row->letter);
    unet_page_print(script, ") known=1");
    if (values == WORDS) {
        unet_page_print(script, " words_of='");
        print_words(script, row->value);
        unet_page_print(script, "'");
    } else if (values != NO_WORDS) {
        unet_page_print(script, " kind=%s", values == FOLDERS ? "-d" : "-f");
    }
    unet_page_print(script, " ;;\n");
}

static void print_bash_options(UnetPage *script, const UnetGrammar *grammar, int command) {
    unet_page_print(script, "        (%s:-*) words_of='", name_of(grammar, command));
    for (int i = 0; i < grammar->noption; i++) {
        const UnetOptionRow *row = &grammar->option[i];
        const bool joined = row->name[1] == '-' && row->kind != UNET_FLAG && row->kind != UNET_MAYBE;
        if (unet_command_takes(row, command))
            unet_page_print(script, "%s%s ", row->name, joined ? "=" : "");
    }
    unet_page_print(script, "--help' ;;\n");
}

static void print_bash_words(UnetPage *script, const UnetGrammar *grammar, int command) {
    unet_page_print(script, "        (%s:*)%s words_of='", name_of(grammar, command),
                    words_behind(grammar, command) == FILES ? " kind=-f" : "");
    print_words_behind(script, grammar, command);
    unet_page_print(script, "' ;;\n");
}

static void print_bash(UnetPage *script, const UnetGrammar *grammar, const char *program) {
    unet_page_print(script, "# In ~/.bashrc: eval \"$(%s completion bash)\"\n", program);
    print_head(script, grammar, program, "\"${COMP_WORDS[@]:1:COMP_CWORD-1}\"");
    unet_page_print(script, "%s", /* `=` is a word to bash */
                    "    word=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]}\n"
                    "    if [[ $word == = ]]; then\n"
                    "        option+== word=\n"
                    "    elif [[ $option == = ]]; then\n"
                    "        option=${COMP_WORDS[COMP_CWORD-2]}=\n"
                    "    fi\n"
                    "    case $command:$option in\n");
    for (int c = 0; c < grammar->ncommand; c++)
        for (int i = 0; i < grammar->noption; i++)
            if (unet_command_takes(&grammar->option[i], c) && grammar->option[i].kind != UNET_FLAG)
                print_bash_value(script, &grammar->option[i], name_of(grammar, c));
    unet_page_print(script, "    esac\n    [[ -n $known ]] || case $command:$word in\n");
    for (int c = 0; c < grammar->ncommand; c++)
        if (is_listed(grammar, c) || c == grammar->plain) {
            print_bash_options(script, grammar, c);
            print_bash_words(script, grammar, c);
        }
    if (grammar->plain < 0) {
        unet_page_print(script, "        (:*) words_of='");
        print_commands(script, grammar, " ");
        unet_page_print(script, "' ;;\n");
    }
    unet_page_print(script, "%s",
                    "    esac\n"
                    "    mapfile -t COMPREPLY < <(compgen $kind -W \"$words_of\" -- \"$word\")\n"
                    "    [[ -z $kind ]] || compopt -o filenames 2>/dev/null\n"
                    "    [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null\n"
                    "}\ncomplete -F _complete_");
    print_name(script, program);
    unet_page_print(script, " %s\n", program);
}

/* ---- zsh ------------------------------------------------------------------------------------------ */

/* The first part of a help, in a quoted specification. */
static void print_zsh_help(UnetPage *script, const char *help) {
    for (; *help != '\0' && *help != ';'; help++)
        if (*help == '\'')
            unet_page_print(script, "'\\''");
        else
            unet_page_print(script, "%s%c", strchr("[]\\:", *help) != NULL ? "\\" : "", *help);
}

static void print_zsh_value(UnetPage *script, const UnetOptionRow *row) {
    const Values values = values_of(row);
    if (row->kind == UNET_FLAG)
        return;
    unet_page_print(script, "%s:%.*s:", row->kind == UNET_MAYBE ? ":" : "", (int)strcspn(row->value, "|["),
                    row->value);
    if (values == WORDS) {
        unet_page_print(script, "(");
        print_words(script, row->value);
        unet_page_print(script, ")");
    } else if (values != NO_WORDS) {
        unet_page_print(script, values == FOLDERS ? "_files -/" : "_files");
    } else {
        unet_page_print(script, " ");
    }
}

static void print_zsh_spelling(UnetPage *script, const UnetOptionRow *row, const char *name) {
    const bool dashed = name[1] == '-';
    unet_page_print(script, " \\\n            '%s%s[", name,
                    row->kind == UNET_FLAG    ? ""
                    : row->kind == UNET_MAYBE ? "=-"
                    : dashed                  ? "="
                                              : "+");
    print_zsh_help(script, row->help);
    unet_page_print(script, "]");
    print_zsh_value(script, row);
    unet_page_print(script, "'");
}

static void print_zsh_command(UnetPage *script, const UnetGrammar *grammar, int command) {
    const Values behind = words_behind(grammar, command);
    unet_page_print(script, "        ('%s') _arguments -s", name_of(grammar, command));
    for (int i = 0; i < grammar->noption; i++) {
        const UnetOptionRow *row = &grammar->option[i];
        const char letter[] = {'-', row->letter, '\0'};
        if (!unet_command_takes(row, command))
            continue;
        if (row->letter != 0 && row->name[1] == '-')
            print_zsh_spelling(script, row, letter);
        print_zsh_spelling(script, row, row->name);
    }
    unet_page_print(script, " \\\n            '*: :{");
    if (command == grammar->plain || behind == WORDS) {
        unet_page_print(script, "compadd ");
        print_words_behind(script, grammar, command);
        unet_page_print(script, "; ");
    }
    unet_page_print(script, "%s}' ;;\n", behind == FILES ? "_files" : "true");
}

/* Read by a shell that starts, the script says what its function completes; as a file of that name in a
 * folder of completions it is called for each. */
static void print_zsh_end(UnetPage *script, const char *program) {
    unet_page_print(script, "if [[ ${funcstack[1]-} = _%s ]]; then\n    _complete_", program);
    print_name(script, program);
    unet_page_print(script, " \"$@\"\nelse\n    compdef _complete_");
    print_name(script, program);
    unet_page_print(script, " %s\nfi\n", program);
}

static void print_zsh(UnetPage *script, const UnetGrammar *grammar, const char *program) {
    unet_page_print(script, "#compdef %s\n# In ~/.zshrc, behind compinit: eval \"$(%s completion zsh)\"\n",
                    program, program);
    print_head(script, grammar, program, "\"${(@)words[2,CURRENT-1]}\"");
    unet_page_print(script, "    case $command in\n");
    for (int c = 0; c < grammar->ncommand; c++)
        if (is_listed(grammar, c) || c == grammar->plain)
            print_zsh_command(script, grammar, c);
    if (grammar->plain < 0) {
        unet_page_print(script, "        ('') compadd ");
        print_commands(script, grammar, " ");
        unet_page_print(script, " ;;\n");
    }
    unet_page_print(script, "    esac\n}\n");
    print_zsh_end(script, program);
}

/* ---- fish ----------------------------------------------------------------------------------------- */

/* Prints a line for the command COMMAND; -1: for a line that names none yet. */
static void print_fish_line(UnetPage *script, const UnetGrammar *grammar, const char *program,
                            int command) {
    unet_page_print(script, "complete -c %s -n '_complete_", program);
    print_name(script, program);
    unet_page_print(script, " \"%s\"'", command < 0 ? "" : name_of(grammar, command));
}

static void print_fish_help(UnetPage *script, const char *help) {
    unet_page_print(script, " -d '");
    for (; *help != '\0' && *help != ';'; help++)
        unet_page_print(script, "%s%c", strchr("'\\", *help) != NULL ? "\\" : "", *help);
    unet_page_print(script, "'\n");
}

static void print_fish_option(UnetPage *script, const UnetOptionRow *row) {
    const Values values = values_of(row);
    if (row->letter != 0)
        unet_page_print(script, " -s %c", row->letter);
    if (row->name[1] == '-')
        unet_page_print(script, " -l %s", row->name + 2);
    else if (row->name[1] != row->letter)
        unet_page_print(script, " -%c %s", row->name[2] == '\0' ? 's' : 'o', row->name + 1);
    if (row->kind != UNET_FLAG && row->kind != UNET_MAYBE)
        unet_page_print(script, " -r");
    if (values == FILES) {
        unet_page_print(script, " -F");
    } else if (values == FOLDERS) {
        unet_page_print(script, " -f -a '(__fish_complete_directories)'");
    } else if (values == WORDS) {
        unet_page_print(script, " -f -a '");
        print_words(script, row->value);
        unet_page_print(script, "'");
    }
    print_fish_help(script, row->help);
}

static void print_fish_command(UnetPage *script, const UnetGrammar *grammar, const char *program,
                               int command) {
    for (int i = 0; i < grammar->noption; i++)
        if (unet_command_takes(&grammar->option[i], command)) {
            print_fish_line(script, grammar, program, command);
            print_fish_option(script, &grammar->option[i]);
        }
    if (words_behind(grammar, command) == FILES) {
        print_fish_line(script, grammar, program, command);
        unet_page_print(script, " -F\n");
    } else if (words_behind(grammar, command) == WORDS) {
        print_fish_line(script, grammar, program, command);
        unet_page_print(script, " -a '");
        print_words_behind(script, grammar, command);
        unet_page_print(script, "'\n");
    }
}

/* A function that tells whether the command is the one that it is given; then a line for each word. */
static void print_fish(UnetPage *script, const UnetGrammar *grammar, const char *program) {
    unet_page_print(script,
                    "# In ~/.config/fish/config.fish: %s completion fish | source\n"
                    "function _complete_",
                    program);
    print_name(script, program);
    unet_page_print(script, "%s",
                    "\n    set -l command ''\n    for word in (commandline -opc)[2..-1]\n"
                    "        if contains -- $word ");
    print_commands(script, grammar, " ");
    unet_page_print(script, "%s",
                    "\n            set command $word\n            break\n        end\n    end\n"
                    "    test \"$command\" = \"$argv[1]\"\nend\n");
    unet_page_print(script, "complete -c %s -f\ncomplete -c %s -l help -d 'show help'\n", program, program);
    for (int c = 0; c < grammar->ncommand; c++) {
        if (is_listed(grammar, c)) {
            print_fish_line(script, grammar, program, -1);
            unet_page_print(script, " -a %s", grammar->command[c].name);
            print_fish_help(script,
                            grammar->command[c].help != NULL ? grammar->command[c].help : "show help");
        }
        if (is_listed(grammar, c) || c == grammar->plain)
            print_fish_command(script, grammar, program, c);
    }
}

/* ---- all ----------------------------------------------------------------------------------------- */

size_t unet_command_line_completion(const UnetGrammar *grammar, const char *program, const char *shell,
                                    char *text, size_t size) {
    UnetPage script = {.text = text, .size = size};
    const char *slash = strrchr(program, '/'), *name = slash != NULL ? slash + 1 : program;
    if (strcmp(shell, "bash") == 0)
        print_bash(&script, grammar, name);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(&script, grammar, name);
    else if (strcmp(shell, "fish") == 0)
        print_fish(&script, grammar, name);
    return script.length;
}
