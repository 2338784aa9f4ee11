/**
 * The flags of `npm run chaos`. Each subject has its own flag.
 */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import type { Flags, Subject } from "./subject.ts";

export interface CommandLine extends Flags {
  readonly subject: Subject;
  readonly json: boolean;
  readonly planted: boolean;
  /** Of the planted bugs, only those whose name contains this. */
  readonly only: string | undefined;
}

const common = {
  seed: { type: "string" },
  minutes: { type: "string" },
  relays: { type: "string" },
  json: { type: "boolean" },
  count: { type: "string" },
  from: { type: "string" },
  planted: { type: "boolean" },
  only: { type: "string" },
} as const;

const line = (flag: string, about: string): string => `  --${flag.padEnd(14)}  ${about}`;

export function usageOf(subjects: readonly Subject[]): string {
  const chosen = subjects.flatMap(({ flag }) => flag ?? []);
  return [
    "Usage: npm run chaos -- [flags]",
    ...chosen.map(({ name, takesNumber, about }) => line(takesNumber ? `${name} N` : name, about)),
    line("seed N", "the seed of the random numbers (printed; new by default)"),
    line("minutes M", "how long faults last, from 0.1 to 240 (1)"),
    line("relays N", "relays of the delivery engine at a time, from 1 to 16 (3)"),
    line(
      "count N",
      "with --payments or --notifications: how many are made, if the minutes are enough, 20 to 100000 (by minutes)",
    ),
    line("from N", "with --lives: the number of the first one (0); a seed and a number are one life"),
    line("planted", "plants known bugs into copies of the code; each must be caught"),
    line("only TEXT", "with --planted: only bugs whose name contains this"),
    line("json", "one JSON object on standard output"),
  ].join("\n");
}

export class UsageError extends Error {}

export function readCommandLine(parameters: readonly string[], subjects: readonly Subject[]): CommandLine {
  const own = subjects.flatMap(({ flag }) => flag ?? []);
  const values = parse(parameters, {
    ...common,
    ...Object.fromEntries(
      own.map(({ name, takesNumber }) => [name, { type: takesNumber ? "string" : "boolean" }] as const),
    ),
  });
  const text = (name: string): string | undefined => (typeof values[name] === "string" ? values[name] : undefined);
  const optional = (name: string, min: number, max: number): number | undefined =>
    text(name) === undefined ? undefined : number(name, text(name) ?? "", min, max, true);
  return {
    subject: choose(subjects, (name) => values[name] !== undefined),
    seed: optional("seed", 0, 2 ** 32 - 1) ?? randomInt(1, 1_000_000),
    minutes: number("minutes", text("minutes") ?? "1", 0.1, 240, false),
    relays: optional("relays", 1, 16) ?? 3,
    json: values["json"] === true,
    planted: values["planted"] === true,
    count: optional("count", 20, 100_000),
    lives: optional("lives", 1, 100_000),
    from: optional("from", 0, 1_000_000) ?? 0,
    only: text("only"),
  };
}

function choose(subjects: readonly Subject[], isGiven: (flag: string) => boolean): Subject {
  const given = subjects.filter(({ flag }) => flag !== undefined && isGiven(flag.name));
  const [one, other] = given.filter(({ flag }) => !given.some(({ partOf }) => partOf === flag?.name));
  if (other !== undefined)
    throw new UsageError(`--${one?.flag?.name} and --${other.flag?.name} are runs of their own; choose one`);
  const chosen = one ?? subjects.find(({ flag }) => flag === undefined);
  if (chosen === undefined) throw new UsageError("choose what is hurt");
  return chosen;
}

function parse(args: readonly string[], options: Record<string, { readonly type: "string" | "boolean" }>) {
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function number(name: string, text: string, min: number, max: number, whole: boolean): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= min && value <= max && (!whole || Number.isInteger(value))) return value;
  throw new UsageError(`--${name} must be ${whole ? "a whole number" : "a number"} from ${min} to ${max}, not ${text}`);
}
