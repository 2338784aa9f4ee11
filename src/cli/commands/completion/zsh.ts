/** Completion for zsh, with descriptions. */
import { allNodes, type CommandNode, type OptionNode } from "./tree.ts";

export function zshCompletion(tree: CommandNode): string {
  const name = tree.path[0] ?? "";
  return `#compdef ${name}
# Completion of ${name} for zsh. Install: ${name} completion zsh > "\${fpath[1]}/_${name}"
${allNodes(tree).map(functionOf).join("\n")}
_${name} "$@"
`;
}

function functionOf(node: CommandNode): string {
  const own = `_${node.path.join("_")}`;
  const options = node.options.map((option) => `    ${quote(specOf(option))}`);
  if (node.children.length === 0) {
    const choices = node.choices.length > 0 ? [`    ${quote(`1:choice:(${node.choices.join(" ")})`)}`] : [];
    return `${own}() {\n  _arguments \\\n${[...options, ...choices].join(" \\\n")}\n}`;
  }
  const described = node.children.map(
    (child) => `      ${quote(`${child.path.at(-1)}:${escapeColons(child.description)}`)}`,
  );
  const cases = node.children.map((child) => `      ${child.path.at(-1)}) _${child.path.join("_")} ;;`);
  return `${own}() {
  local line state
  _arguments -C \\
${options.join(" \\\n")} \\
    '1: :->command' '*:: :->rest'
  case $state in
    command)
      local -a commands=(
${described.join("\n")}
      )
      _describe command commands ;;
    rest)
      case $line[1] in
${cases.join("\n")}
      esac ;;
  esac
}`;
}

function specOf(option: OptionNode): string {
  const text = `${option.flag}[${option.description.replaceAll(/[[\]]/g, "")}]`;
  if (option.value === "none") return text;
  return `${text}:value:${option.value === "file" ? "_files" : option.value === "folder" ? "_files -/" : ""}`;
}

function escapeColons(text: string): string {
  return text.replaceAll(":", "\\:");
}

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
