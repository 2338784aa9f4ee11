/**
 * The command line: collects the commands, runs the one that was asked for, and reports its failure.
 *
 * Exit codes: 0 done, 1 failed, 2 called wrongly. With --json a failure too is one JSON object on stdout. Each file in
 * commands/ exports `register(program)`; nothing needs to be entered anywhere else.
 */
import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { Command, CommanderError, Help, type Option } from "commander";
import { z } from "zod";
import { HeadroomError, isRetryableConnectionError, sqlStateOf, toHeadroomError } from "../db/errors.ts";
import { ExitWith } from "./exit.ts";
import { formatError, printJson } from "./output.ts";

/** What a file in commands/ must export. */
const commandModule = z.object({
  register: z.custom<(program: Command) => void>((value) => typeof value === "function"),
});

const manifestFile = z.object({ version: z.string(), description: z.string() });

async function loadCommands(program: Command): Promise<void> {
  const folder = new URL("./commands/", import.meta.url);
  const names = (await readdir(folder)).filter((name) => /^[a-z-]+\.(ts|js)$/.test(name)).toSorted();
  for (const name of names) {
    commandModule.parse(await import(new URL(name, folder).href)).register(program);
  }
}

function createProgram(): Command {
  const text = readFileSync(new URL("../../package.json", import.meta.url), "utf8");
  const manifest = manifestFile.parse(JSON.parse(text));
  return new Command("headroom")
    .description(manifest.description)
    .version(manifest.version)
    .showHelpAfterError("(headroom --help lists what there is)")
    .exitOverride();
}

/** What a command cannot do without is said where it is listed, not only when it is missing. */
function describeOption(option: Option): string {
  const described = new Help().optionDescription(option);
  return option.mandatory ? `${described} (required)` : described;
}

/** Commander copies its settings to a subcommand only while that is created, hence once more for those that are added. */
function exitThroughUs(command: Command): void {
  command.exitOverride().configureHelp({ optionDescription: describeOption });
  for (const child of command.commands) exitThroughUs(child);
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
  // What is not ours is a bug: its stack is what a report needs.
  if (failure === undefined) process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  return failure?.code === "usage" ? 2 : 1;
}

/** Runs the command line and returns the exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  try {
    const program = createProgram();
    await loadCommands(program);
    exitThroughUs(program);
    await program.parseAsync([...argv], { from: "user" });
    return 0;
  } catch (error) {
    return report(error, argv.includes("--json"));
  }
}

/** Runs this process's own command line, and leaves its exit code. */
export async function runProcess(): Promise<void> {
  // A reader that went away (`headroom … | head`) is no failure worth a stack.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  process.exitCode = await run(process.argv.slice(2));
}
