/**
 * The command line: loads the commands, runs the one that was given, and reports its failure.
 *
 * Exit codes: 0 done, 1 failed, 2 usage error. With --json a failure is one JSON object on stdout too. Every module in commands/
 * is a command and exports `register(program)`; it is listed nowhere else. README.md says what belongs where.
 */
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, extname } from "node:path";
import { Command, CommanderError, Help, type Option } from "commander";
import { z } from "zod";
import { HeadroomError, isRetryableConnectionError, sqlStateOf, toHeadroomError } from "../db/errors.ts";
import { ExitWith } from "./exit.ts";
import { formatError, printJson } from "./output.ts";

/** What a command's module must export. */
const commandModule = z.object({
  register: z.custom<(program: Command) => void>((value) => typeof value === "function"),
});

const manifestFile = z.object({ version: z.string(), description: z.string() });

/** The commands that are about all commands, and so need them all. */
const looksAtAll = "completion";

/**
 * A command is a file or a folder with an index: `serve.ts`, `outbox/index.ts`. Tests and declarations have a second dot in their names.
 * Only the given command is loaded, because all of them take most of a second. If the word is not a command, the help lists all.
 */
async function loadCommands(program: Command, asked: string | undefined): Promise<void> {
  const folder = new URL("./commands/", import.meta.url);
  const ending = extname(import.meta.url);
  const entries = await readdir(folder, { withFileTypes: true });
  const modules = new Map(
    entries
      .map((entry) => [basename(entry.name, ending), entry] as const)
      .filter(([name]) => /^[a-z-]+$/.test(name))
      .map(([name, entry]) => [name, entry.isDirectory() ? `${name}/index${ending}` : entry.name]),
  );
  const named = asked === undefined || asked === looksAtAll ? undefined : modules.get(asked);
  for (const file of named === undefined ? [...modules.values()].toSorted() : [named]) {
    commandModule.parse(await import(new URL(file, folder).href)).register(program);
  }
}

function createProgram(): Command {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const manifest = manifestFile.parse(JSON.parse(text));
  return new Command("headroom").description(manifest.description).version(manifest.version);
}

/** Required options are marked in the help, so that people need not find out by an error. */
function describeOption(option: Option): string {
  const described = new Help().optionDescription(option);
  return option.mandatory ? `${described} (required)` : described;
}

/** Commander has these settings per command, so they are set on the whole tree once it is complete. */
function configure(command: Command, path: string): void {
  command
    .exitOverride()
    .configureHelp({ optionDescription: describeOption })
    .showHelpAfterError(`(${path} --help shows how it is used)`);
  for (const child of command.commands) configure(child, `${path} ${child.name()}`);
}

/** Prints the failure and returns the exit code. */
function report(error: unknown, json: boolean): number {
  // Commander has printed its own text by now.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof ExitWith) return error.exitCode;
  const known = error instanceof HeadroomError || sqlStateOf(error) !== undefined || isRetryableConnectionError(error);
  const failure = known ? toHeadroomError(error) : undefined;
  if (json) {
    const { code, message, detail, hint } = failure ?? { code: "internal", message: String(error) };
    printJson({ error: { code, message, detail, hint } });
  } else if (failure !== undefined) {
    process.stderr.write(`${formatError(failure)}\n`);
  }
  // An error that we do not know is a bug, and a bug report needs its stack.
  if (failure === undefined) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  return failure?.code === "usage" ? 2 : 1;
}

/** Runs the command line and returns the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    const program = createProgram();
    await loadCommands(program, argv[0]);
    configure(program, program.name());
    await program.parseAsync([...argv], { from: "user" });
    return 0;
  } catch (error) {
    return report(error, argv.includes("--json"));
  }
}

/** Runs this process's own command line, and leaves its exit code. */
export async function runProcess(): Promise<void> {
  // It is not a failure if the reader of a pipe ends first (`headroom … | head`).
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  process.exitCode = await run(process.argv.slice(2));
}
