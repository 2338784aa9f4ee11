/** The commands as data, read from the command tree itself, so that completion always offers what the program has. */
import type { Command } from "commander";

export interface CommandNode {
  /** Begins with the program's name: `["headroom", "outbox", "dead"]`. */
  readonly path: readonly string[];
  readonly description: string;
  readonly options: readonly OptionNode[];
  /** The values of its arguments, if there is a fixed list of them. */
  readonly choices: readonly string[];
  readonly children: readonly CommandNode[];
}

export interface OptionNode {
  readonly flag: string;
  readonly description: string;
  /** Whether a value follows, and what kind. */
  readonly value: "none" | "file" | "folder" | "other";
}

export function readTree(command: Command, path: readonly string[] = [command.name()]): CommandNode {
  return {
    path,
    description: command.description(),
    options: [
      ...command.options
        .filter((option) => option.long !== undefined && option.long !== null && !option.hidden)
        .map((option) => ({
          flag: option.long ?? "",
          description: option.description,
          value: option.required || option.optional ? kindOf(option.flags) : ("none" as const),
        })),
      { flag: "--help", description: "show help", value: "none" as const },
    ],
    choices: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
    children: command.commands.map((child) => readTree(child, [...path, child.name()])),
  };
}

function kindOf(flags: string): "file" | "folder" | "other" {
  if (/<(file|module)>/.test(flags)) return "file";
  return /<folder>/.test(flags) ? "folder" : "other";
}

export function allNodes(node: CommandNode): CommandNode[] {
  return [node, ...node.children.flatMap(allNodes)];
}
