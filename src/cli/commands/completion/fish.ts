/** Completion for fish, with descriptions. */
import { allNodes, type CommandNode } from "./tree.ts";

export function fishCompletion(tree: CommandNode): string {
  const name = tree.path[0] ?? "";
  const lines = allNodes(tree).flatMap((node) => linesOf(name, node));
  return `# Completion of ${name} for fish. Install: ${name} completion fish > ~/.config/fish/completions/${name}.fish
complete -c ${name} -f
${lines.join("\n")}
`;
}

function linesOf(name: string, node: CommandNode): string[] {
  const when = quote(conditionOf(node));
  const start = `complete -c ${name} -n ${when}`;
  return [
    ...node.children.map((child) => `${start} -a ${child.path.at(-1)} -d ${quote(child.description)}`),
    ...node.choices.map((choice) => `${start} -a ${choice}`),
    ...node.options.map((option) => {
      const value = option.value === "none" ? "" : option.value === "other" ? " -x" : " -r -F";
      return `${start} -l ${option.flag.slice(2)}${value} -d ${quote(option.description)}`;
    }),
  ];
}

/** True if the words so far are exactly those of the node: all of its own were seen, and none of its children's. */
function conditionOf(node: CommandNode): string {
  const seen = node.path.slice(1).map((word) => `__fish_seen_subcommand_from ${word}`);
  const children = node.children.map((child) => child.path.at(-1)).join(" ");
  const unseen = children === "" ? [] : [`not __fish_seen_subcommand_from ${children}`];
  const parts = [...seen, ...unseen];
  return parts.length === 0 ? "true" : parts.join("; and ");
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
