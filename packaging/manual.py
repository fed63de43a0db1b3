"""Man pages of the commands and shell completions, generated from the command's help.

    manual.py TESSERA FOLDER [HELP2MAN]

FOLDER receives what is installed: completions of bash, zsh and fish and, where help2man is named,
man1/.  The commands and their options are those of --help.  The words that an option takes, and the
variants of an operation, are those that the command lists when it is given another one.
"""

import os
import re
import shutil
import subprocess
import sys

from roff import escaped

# So wide that nothing is wrapped, in English; a build with sanitizers looks for no leaks here.
WIDE = {**os.environ, "COLUMNS": "100000", "LC_ALL": "C.UTF-8", "ASAN_OPTIONS": "detect_leaks=0"}


class Option:
    def __init__(self, letter, name, value, meaning):
        self.letter, self.name, self.value = letter, name, value
        self.repeated = "may be repeated" in meaning
        self.meaning = meaning.split(" (default: ")[0]
        self.words = []
        self.names_variant = value == "V"  # --kernel


class Command:
    """A command: its options, and what it takes besides: operations, files, program or None; and
    whether a variant of the operation may follow."""

    def __init__(self, tessera, name, summary):
        self.name, self.summary = name, summary
        text = said(tessera, name, "--help")
        self.usage = re.match(r"Usage: tessera \S+ ?(.*)", text)[1]
        self.examples = text.partition("\nExamples:\n")[2]
        rows = re.findall(r"(?m)^  (?:-(\w), |    )--([\w-]+)(?: (\S+))?  +(\S.*)$", text)
        self.options = [Option(*row) for row in rows]
        for option in self.options:
            if option.value:
                option.words = words_of(tessera, name, option)
        listed = re.search(r"(?m)^(?:OP|NAME) is (.*)\.$", text)
        self.operations = re.split(", | or ", re.sub(r" \([^)]*\)", "", listed[1])) if listed else []
        also = r"OP may be (\w+)|'tessera %s (\w+)'" % name
        self.operations += [a or b for a, b in re.findall(also, text)]
        self.takes_variant = "[VARIANT]" in self.usage
        self.takes = ("operations" if listed else "program" if "PROGRAM" in self.usage else
                      "files" if re.sub(r"\[-[^]]*\]", "", self.usage).strip() else None)


def said(tessera, *args):
    return subprocess.run([tessera, *args], env=WIDE, check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def words_of(tessera, command, option):
    """The words of an option that takes a fixed list: "takes one, two or three, not '?'"."""
    if option.names_variant:
        return ["all"] * ("or all" in option.meaning)
    if option.name == "device":  # any part of a name, besides
        return re.match(r"(?:[a-z]+, )*", option.meaning)[0].split(", ")[:-1]
    # The second option is unknown, so that nothing runs whatever the first one takes.
    done = subprocess.run([tessera, command, "--" + option.name, "?", "--?"], env=WIDE,
                          stderr=subprocess.PIPE, text=True)
    listed = re.search(r" takes (.*), not '\?'\n", done.stderr)
    words = re.split(",? or |, ", listed[1].split("such as")[0]) if listed else []
    return [w for w in words if re.fullmatch("[a-z0-9-]+", w)]


def variants_of(tessera, operation):
    done = subprocess.run([tessera, "kernels", operation, "?", "--device", "host"], env=WIDE,
                          stderr=subprocess.PIPE, text=True)
    return re.search(r"\(there are (.*)\)\n", done.stderr)[1].split(", ")


# ---- man pages -----------------------------------------------------------------------------


def man_page(help2man, tessera, name, summary, usage, examples, also, *args):
    """What help2man makes of a help, but for what it would run together: usage and examples."""
    title = "tessera-" + name if name else "tessera"
    sections = ["[NAME]", "%s \\- %s" % (title, escaped(summary)),
                "[SYNOPSIS]", ".B " + escaped(title.replace("-", " ")), escaped(usage),
                "[SEE ALSO]", ",\n".join(".BR %s (%s)" % (escaped(page), part) for page, part in also)]
    if examples:
        sections += ["[=EXAMPLES]", ".EX", escaped(examples.rstrip("\n")), ".EE"]
    # By its name alone: help2man has a shell read it, to which a blank in a folder's name is one.
    return subprocess.run([help2man, "--no-info", "--include=/dev/stdin", *args,
                           "./" + os.path.basename(tessera)], cwd=os.path.dirname(tessera) or ".",
                          check=True, env=WIDE, input="\n".join(sections) + "\n",
                          stdout=subprocess.PIPE, text=True).stdout


def write_pages(help2man, tessera, about, commands, folder):
    first = about[0].lower() + about[1:].rstrip(".")
    pages = {"tessera": man_page(help2man, tessera, "", first, "COMMAND [OPTION]...", "",
                                 [("tessera-" + c.name, 1) for c in commands] + [("tessera", 7)])}
    for c in commands:
        also = [("tessera", 1)] + [("tessera-blas" if c.name == "blas" else "tessera", 7)]
        pages["tessera-" + c.name] = man_page(help2man, tessera, c.name, c.summary, c.usage, c.examples,
                                              also, "--help-option=%s --help" % c.name)
    for name, text in pages.items():
        write(os.path.join(folder, name + ".1"), text)


# ---- completions ---------------------------------------------------------------------------


def quoted(text):
    return "'%s'" % text.replace("'", "'\\''")


BASH = """# Completions of tessera for bash, made from its own help.

# The variants of the operation that is among the words.
_tessera_variants()
{
    local word
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $word in
%s
        esac
    done
}

# Where the program stands among the words, or is to stand, behind options; these take a value: $1.
_tessera_program()
{
    local at=2
    while [ $at -lt $COMP_CWORD ]; do
        case ${COMP_WORDS[at]} in
        --) at=$((at + 1)); break ;;
        -*) if [[ " $1 " = *" ${COMP_WORDS[at]} "* ]]; then
                at=$((at + 1))
                [ "${COMP_WORDS[at]}" != = ] || at=$((at + 1))
            fi ;;
        *) break ;;
        esac
        at=$((at + 1))
    done
    echo $at
}

_tessera()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words= program=

    COMPREPLY=()
    # What follows a program is its own.
    case ${COMP_WORDS[1]} in
%s
    esac
    if [ -n "$program" ] && [ "$program" -lt $COMP_CWORD ]; then
        if declare -F _command_offset > /dev/null; then # of the package bash-completion
            _command_offset $program
        else
            compopt -o default
        fi
        return
    fi
    # Of --option=VALUE bash makes three words.
    if [ "$cur" = = ]; then
        cur=
    elif [ "$prev" = = ]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W '%s --help --version' -- "$cur"))
        return
    fi
    case "${COMP_WORDS[1]} $prev" in
%s
    *)
        case "${COMP_WORDS[1]} $cur" in
%s
        esac
        ;;
    esac
    COMPREPLY+=($(compgen -W "$words" -- "$cur"))
}
complete -F _tessera tessera
"""


def bash_values(option):
    """How the values of an option are offered."""
    if option.names_variant:
        return 'words="%s$(_tessera_variants)"' % "".join(w + " " for w in option.words)
    if option.words:
        return "words=" + quoted(" ".join(option.words))
    return {"FILE": "compopt -o default", "DIR": "compopt -o dirnames"}.get(option.value, "")


def bash_operands(command):
    """How its operands are offered."""
    words = "words=" + quoted(" ".join(command.operations))
    if command.takes_variant:
        return 'words=$(_tessera_variants); [ -n "$words" ] || ' + words
    return {"operations": words, "files": "compopt -o default",
            "program": 'compopt -o default; COMPREPLY=($(compgen -c -- "$cur"))'}.get(command.takes, "")


def names_of(options):
    return ["--" + o.name for o in options] + ["-" + o.letter for o in options if o.letter]


def bash(commands, variants):
    values, others = [], []
    for c in commands:
        values += [("|".join("'%s %s'" % (c.name, n) for n in names_of([o])), bash_values(o))
                   for o in c.options if o.value]
        others += [("'%s -'*" % c.name, "words=" + quoted(" ".join(names_of(c.options)))),
                   ("'%s '*" % c.name, bash_operands(c))]
    programs = [(c.name, 'program=$(_tessera_program "%s")'
                 % " ".join(names_of([o for o in c.options if o.value])))
                for c in commands if c.takes == "program"]
    return BASH % ("\n".join("        %s) echo %s; return ;;" % (name, quoted(" ".join(words)))
                             for name, words in variants.items()),
                   "\n".join("    %s) %s ;;" % case for case in programs),
                   " ".join(c.name for c in commands),
                   "\n".join("    %s) %s ;;" % case for case in values),
                   "\n".join("        %s) %s ;;" % case for case in others))


ZSH = """#compdef tessera
# Completions of tessera for zsh, made from its own help.

# The variants of the operation that is among the words.
_tessera_variants() {
    local word
    for word in $words[1,CURRENT-1]; do
        case $word in
%s
        esac
    done
    compadd "$@"
}

local command=$words[2]
local -a listed=(
%s
)
if (( CURRENT == 2 )); then
    _describe -t commands command listed
    _arguments : --help'[show the commands]' --version'[show the version]'
    return
fi
shift words
(( CURRENT-- ))
case $command in
%s
esac
"""


def zsh(commands, variants):
    cases = []
    for c in commands:
        specs = []
        for o in c.options:
            names = ["-" + o.letter + "+"] * bool(o.letter and o.value) + \
                    ["-" + o.letter] * bool(o.letter and not o.value) + \
                    ["--" + o.name + ("=" if o.value else "")]
            before = "*" if o.repeated else "(-%s --%s)" % (o.letter, o.name) if o.letter else ""
            takes = ("_tessera_variants " + " ".join(o.words) if o.names_variant else
                     "(%s)" % " ".join(o.words) if o.words else
                     {"FILE": "_files", "DIR": "_directories"}.get(o.value, ""))
            behind = "[%s]" % re.sub(r"([\[\]\\])", r"\\\1", o.meaning)
            behind += ":%s:%s" % (o.value.replace(":", "\\:"), takes) if o.value else ""
            specs += [before + name + behind for name in names]
        operations = "operation:(%s)" % " ".join(c.operations)
        specs += {"operations": ["1:" + operations, "2:variant:_tessera_variants"]
                                if c.takes_variant else ["*:" + operations],
                  "program": ["(-)1:program: _command_names -e", "*::argument: _normal"],
                  "files": ["*:file:_files"]}.get(c.takes, [])
        cases.append("%s)\n    _arguments -S : \\\n%s\n    ;;"
                     % (c.name, " \\\n".join("        " + quoted(s) for s in specs)))
    listed = "\n".join("    " + quoted("%s:%s" % (c.name, c.summary)) for c in commands)
    words = "\n".join('        %s) compadd "$@" %s; return ;;' % (name, " ".join(words))
                      for name, words in variants.items())
    return ZSH % (words, listed, "\n".join(cases))


FISH = """# Completions of tessera for fish, made from its own help.
function __tessera_command
    set -l words (commandline -opc)
    test "$words[2]" = "$argv[1]"
end
# The variants of the operation that is among the words; false where there is none.
function __tessera_variants
    for word in (commandline -opc)[2..]
        switch $word
%s
        end
    end
    return 1
end
# Whether a program stands behind the options, of which these take a value.
function __tessera_program
    set -l words (commandline -opc)[3..]
    while set -q words[1]
        if contains -- $words[1] $argv
            set -e words[1]
        else if test "$words[1]" = --
            set -q words[2]
            return
        else if not string match -q -- '-*' $words[1]
            return 0
        end
        set -e words[1]
    end
    return 1
end
complete -c tessera -f
complete -c tessera -n "__tessera_command ''" -l help -d 'show the commands'
complete -c tessera -n "__tessera_command ''" -l version -d 'show the version'
"""


def fish_text(s):
    return "'%s'" % s.replace("\\", "\\\\").replace("'", "\\'")


def fish_operands(command, start):
    """Lines that offer its operands."""
    operations = "-a " + fish_text(" ".join(command.operations))
    if command.takes_variant:
        return ["complete -c tessera -n '__tessera_command %s; and not __tessera_variants >/dev/null' %s"
                % (command.name, operations), start + " -a '(__tessera_variants)'"]
    options = " ".join(names_of([o for o in command.options if o.value]))
    program = "-a '(__fish_complete_subcommand --fcs-skip=2 -- %s)'" % options
    found = {"operations": operations, "files": "-F", "program": program}.get(command.takes)
    return [start + " " + found] if found else []


def fish(commands, variants):
    lines = ["complete -c tessera -n \"__tessera_command ''\" -a %s -d %s"
             % (c.name, fish_text(c.summary)) for c in commands]
    for c in commands:
        start = "complete -c tessera -n '__tessera_command %s'" % c.name
        before = start
        if c.takes == "program":
            before = start[:-1] + "; and not __tessera_program %s'" % " ".join(
                names_of([o for o in c.options if o.value]))
        for o in c.options:
            words = " ".join(o.words + ["(__tessera_variants)"] * o.names_variant)
            takes = ("-x -a " + fish_text(words) if words else
                     {"": "", "FILE": "-r -F", "DIR": "-x -a '(__fish_complete_directories)'"}
                     .get(o.value, "-x"))
            lines.append(" ".join(filter(None, [before, "-s " + o.letter if o.letter else "",
                                                "-l " + o.name, takes, "-d " + fish_text(o.meaning)])))
        lines += fish_operands(c, start)
    words = "\n".join("            case %s\n                string split ' ' -- %s\n                return"
                      % (name, fish_text(" ".join(words))) for name, words in variants.items())
    return FISH % words + "\n".join(lines) + "\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main():
    tessera, folder, *help2man = sys.argv[1:]
    text = said(tessera, "--help")
    about = text.split("\n\n")[1]
    listed = re.search(r"(?s)\nCommands:\n(.*?)\n\n", text)[1]
    commands = [Command(tessera, *row) for row in re.findall(r"(?m)^  (\S+) +(.+)$", listed)]
    # A command that is gone leaves no page behind.
    shutil.rmtree(os.path.join(folder, "man1"), ignore_errors=True)
    kernels = next(c for c in commands if c.name == "kernels")
    variants = {name: variants_of(tessera, name) for name in kernels.operations}
    for written, path in ((bash, "bash-completion/completions/tessera"), (zsh, "zsh/site-functions/_tessera"),
                          (fish, "fish/vendor_completions.d/tessera.fish")):
        write(os.path.join(folder, path), written(commands, variants))
    if help2man:
        write_pages(help2man[0], tessera, about, commands, os.path.join(folder, "man1"))


main()
