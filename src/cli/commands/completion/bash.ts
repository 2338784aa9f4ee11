/** Completion for bash: finds the command that the words so far name, and offers what may follow it. */
import { allNodes, type CommandNode } from "./tree.ts";

export function bashCompletion(tree: CommandNode): string {
  const name = tree.path[0] ?? "";
  const nodes = allNodes(tree);
  const withValue = (kind: string): string =>
    [
      ...new Set(
        nodes.flatMap((node) => node.options.filter((option) => option.value === kind).map((option) => option.flag)),
      ),
    ].join("|");
  const cases = nodes.map((node) => `    "${node.path.join(" ")}") words="${wordsOf(node)}" ;;`);
  const paths = nodes.map((node) => `"${node.path.join(" ")}"`).join(" | ");
  return `# Completion of ${name} for bash. Install: ${name} completion bash > /etc/bash_completion.d/${name}
_${name}() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" at="${name}" words="" index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    case "$at \${COMP_WORDS[index]}" in
      ${paths}) at="$at \${COMP_WORDS[index]}" ;;
    esac
  done
  case "$previous" in
    ${withValue("file") || "--"}) mapfile -t COMPREPLY < <(compgen -f -- "$current"); return ;;
    ${withValue("folder") || "--"}) mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
    ${withValue("other") || "--"}) return ;;
  esac
  case "$at" in
${cases.join("\n")}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -F _${name} ${name}
`;
}

function wordsOf(node: CommandNode): string {
  const children = node.children.map((child) => child.path.at(-1) ?? "");
  return [...children, ...node.choices, ...node.options.map((option) => option.flag)].join(" ");
}
