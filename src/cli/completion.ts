import { Argument, Command, type Option } from "commander";
import { oneOfWords } from "./choice.ts";
import type { Output } from "./output.ts";

/** What can stand in a place: one of these words, a file or folder, or anything. */
type Value = readonly string[] | "file" | "any";

interface CompletedOption {
  readonly flags: readonly string[];
  readonly description: string;
  /** Undefined if it takes no value, or need not have one. */
  readonly value: Value | undefined;
}

/** One command of the tree, as far as a shell must know it. */
interface CompletedCommand {
  /** Its words after the program's name, separated by spaces. */
  readonly path: string;
  readonly description: string;
  readonly options: readonly CompletedOption[];
  readonly arguments: readonly Value[];
  readonly commands: readonly CompletedCommand[];
}

const shells = ["bash", "zsh", "fish"] as const;
const name = "konnectivity-bootstrap";

/** `completion`: a script for a shell, made from the tree of commands. */
export function completionCommand(output: Output): Command {
  return new Command("completion")
    .description("Print a script that completes commands and options in a shell")
    .addArgument(new Argument("<shell>", "shell that you use").choices(shells).argParser(oneOfWords(shells, output)))
    .action((shell: (typeof shells)[number], _options: object, self: Command) => {
      const root = completed(self.parent ?? self);
      output.text(shell === "fish" ? fishScript(root) : bashLikeScript(shell, root));
    });
}

function completed(command: Command, path = ""): CompletedCommand {
  const inside = (child: Command) => (path === "" ? child.name() : `${path} ${child.name()}`);
  return {
    path,
    description: command.description(),
    options: [...command.options.filter(({ hidden }) => !hidden).map(completedOption), help],
    arguments: command.registeredArguments.map((one) => one.argChoices ?? kindOf(one.name())),
    commands: command.commands.map((child) => completed(child, inside(child))),
  };
}

const help: CompletedOption = { flags: ["--help"], description: "Print help", value: undefined };

function completedOption(option: Option): CompletedOption {
  const [, placeholder = ""] = /<([\w-]+)/.exec(option.flags) ?? [];
  return {
    flags: [option.long, option.short].filter((flag) => flag != null),
    description: option.description,
    value: option.required ? (option.argChoices ?? kindOf(placeholder)) : undefined,
  };
}

/** Help texts name what is a file. */
const kindOf = (placeholder: string): Value => (/^(file|dir|folder|install-dir)$/.test(placeholder) ? "file" : "any");

/** All commands, each before those below it. */
const flattened = (command: CompletedCommand): CompletedCommand[] => [command, ...command.commands.flatMap(flattened)];

const lastWord = (path: string) => path.slice(path.lastIndexOf(" ") + 1);

/** The places of a tree, by what leads there: a command's path, a colon, and a word or the argument's number. */
function placesOf(root: CompletedCommand) {
  const all = flattened(root);
  const below = all.flatMap((command) =>
    command.commands.map((child) => ({ at: `${command.path}:${lastWord(child.path)}`, path: child.path })),
  );
  const values = all.flatMap(({ path, options }) =>
    options.flatMap(({ flags, value }) =>
      value === undefined ? [] : flags.map((flag) => ({ at: `${path}:${flag}`, value })),
    ),
  );
  const positions = all.flatMap(({ path, commands, arguments: places }) =>
    commands.length > 0
      ? [{ at: `${path}:0`, value: commands.map((child) => lastWord(child.path)) }]
      : places.map((value, index) => ({ at: `${path}:${index}`, value })),
  );
  const options = all.map(({ path, options: ofCommand }) => ({
    at: path,
    value: ofCommand.flatMap(({ flags }) => flags),
  }));
  return { below, values, positions, options };
}

/** bash and zsh have almost the same language; what differs is where the words are and how answers are given. */
function bashLikeScript(shell: "bash" | "zsh", root: CompletedCommand): string {
  const { below, values, positions, options } = placesOf(root);
  const answers = (places: readonly { at: string; value: Value }[]) =>
    places
      .filter(({ value }) => value !== "any")
      .map(
        ({ at, value }) =>
          `      "${at}") ${value === "file" ? "files=yes" : `choices="${(value as readonly string[]).join(" ")}"`} ;;`,
      );
  const bash = shell === "bash";
  const words = bash ? "COMP_WORDS" : "words";
  // The first word is the program: number 0 in bash, 1 in zsh.
  const [first, current] = bash ? ["1", "COMP_CWORD"] : ["2", "CURRENT"];
  return [
    bash ? `# bash completion for ${name}` : `#compdef ${name}`,
    "_konnectivity_bootstrap() {",
    '  local path_="" position=0 expects="" files="" choices="" word index',
    `  for ((index = ${first}; index < ${current}; index++)); do`,
    `    word=\${${words}[index]}`,
    '    if [ -n "$expects" ]; then expects=""; continue; fi',
    '    case "${path_}:${word}" in',
    ...below.map(({ at, path }) => `      "${at}") path_="${path}" position=0 ;;`),
    `      ${values.map(({ at }) => `"${at}"`).join(" | ")}) expects=yes ;;`,
    "      *:-*) ;;",
    "      *) position=$((position + 1)) ;;",
    "    esac",
    "  done",
    `  word=\${${words}[${current}]}`,
    '  if [ -n "$expects" ]; then',
    `    case "\${path_}:\${${words}[${current} - 1]}" in`,
    ...answers(values),
    "    esac",
    '  elif [ "${word#-}" != "$word" ]; then',
    '    case "$path_" in',
    ...answers(options),
    "    esac",
    "  else",
    '    case "${path_}:${position}" in',
    ...answers(positions),
    "    esac",
    "  fi",
    ...(bash ? bashEnd : zshEnd),
    "",
  ].join("\n");
}

const bashEnd = [
  '  if [ -n "$files" ]; then',
  // bash 3.2, which macOS has, knows neither compopt nor mapfile.
  "    compopt -o filenames 2>/dev/null",
  "    local IFS=$'\\n'",
  '    COMPREPLY=($(compgen -f -- "$word"))',
  "  else",
  '    COMPREPLY=($(compgen -W "$choices" -- "$word"))',
  "  fi",
  "}",
  `complete -F _konnectivity_bootstrap ${name}`,
];

const zshEnd = [
  '  if [ -n "$files" ]; then _files; else compadd -- ${=choices}; fi',
  "}",
  // A file in $fpath is the function's body; a script that is sourced defines it.
  'if [ "$funcstack[1]" = _konnectivity_bootstrap ]; then',
  '  _konnectivity_bootstrap "$@"',
  "else",
  `  compdef _konnectivity_bootstrap ${name}`,
  "fi",
];

function fishScript(root: CompletedCommand): string {
  const { below, values } = placesOf(root);
  const quoted = (text: string) => `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
  const line = (path: string, rest: string) => `complete -c ${name} -n "__konnectivity_bootstrap_at '${path}'" ${rest}`;
  const valueFlags = (value: Value | undefined) => {
    if (value === undefined) return "";
    if (value === "file") return " -r -F";
    return value === "any" ? " -x" : ` -x -a ${quoted(value.join(" "))}`;
  };
  const flag = (text: string) => (text.startsWith("--") ? `-l ${text.slice(2)}` : `-s ${text.slice(1)}`);
  return [
    `# fish completion for ${name}`,
    "function __konnectivity_bootstrap_at",
    "    set -l path ''",
    "    set -l expects no",
    "    for word in (commandline -opc)[2..-1]",
    "        if test $expects = yes",
    "            set expects no",
    "            continue",
    "        end",
    '        switch "$path:$word"',
    ...below.flatMap(({ at, path }) => [`            case ${quoted(at)}`, `                set path ${quoted(path)}`]),
    `            case ${values.map(({ at }) => quoted(at)).join(" ")}`,
    "                set expects yes",
    "        end",
    "    end",
    '    test "$path" = "$argv[1]"',
    "end",
    `complete -c ${name} -f`,
    ...flattened(root).flatMap(({ path, commands, options, arguments: places }) => [
      ...commands.map((child) => line(path, `-a ${lastWord(child.path)} -d ${quoted(child.description)}`)),
      ...places.flatMap((value) =>
        value === "any" ? [] : [line(path, value === "file" ? "-F" : `-a ${quoted(value.join(" "))}`)],
      ),
      ...options.map(({ flags, description, value }) =>
        line(path, `${flags.map(flag).join(" ")}${valueFlags(value)} -d ${quoted(description)}`),
      ),
    ]),
    "",
  ].join("\n");
}
