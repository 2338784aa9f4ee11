/** `headroom completion`: a script that teaches a shell the commands and options. */
import { Argument, type Command } from "commander";
import { bashCompletion } from "./bash.ts";
import { fishCompletion } from "./fish.ts";
import { readTree, type CommandNode } from "./tree.ts";
import { zshCompletion } from "./zsh.ts";

const writers = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const satisfies Record<
  string,
  (tree: CommandNode) => string
>;

export function register(program: Command): void {
  program
    .command("completion")
    .description("print a completion script for a shell")
    .addArgument(new Argument("<shell>", "the shell").choices(Object.keys(writers)))
    .action((shell: keyof typeof writers) => {
      process.stdout.write(writers[shell](readTree(program)));
    });
}
