/** The command line of the benchmark. */
import { parseArgs } from "node:util";
import type { Part, Profile } from "./model.ts";
import { PARTS } from "./parts/index.ts";
import { PROFILES } from "./profile.ts";

export interface Options {
  readonly profile: Profile;
  readonly parts: readonly Part[];
  readonly json: boolean;
  readonly strict: boolean;
  /** The commit that the working tree is compared with, instead of with the peers; '' is the last landed one. */
  readonly guard: string | undefined;
  /** Only a whole run of at least the default size may go into the docs. */
  readonly writesDocs: boolean;
}

export class UsageError extends Error {}

export const USAGE = `usage: npm run bench -- [options]

  --quick         ends within 90 seconds: fewer repetitions, smaller backlogs
  --full          adds the tables of a million and ten million rows (half an hour and more)
  --only <part>   one part, or several separated by commas
  --guard [commit]  instead of the peers: what enqueue, claim, settle, wake and decide cost, beside that commit (default: the one that
                  landed last), within three minutes; exit code 1 if one costs over 10 % more
  --json          one JSON object on stdout, progress on stderr
  --strict        exit code 1 when a target is missed
  --no-docs       leave docs/bench alone

parts:
${PARTS.map((part) => `  ${part.name.padEnd(14)}${part.about}${part.fullOnly ? " (--full)" : ""}`).join("\n")}
`;

/** Returns null when only help was asked for. */
export function parseOptions(args: readonly string[]): Options | null {
  let values;
  try {
    ({ values } = parseArgs({
      // The commit may be omitted, but parseArgs requires a value for a text option.
      args: args.map((arg, at) => (arg === "--guard" && /^(--|$)/.test(args[at + 1] ?? "") ? "--guard=" : arg)),
      options: {
        quick: { type: "boolean", default: false },
        full: { type: "boolean", default: false },
        json: { type: "boolean", default: false },
        strict: { type: "boolean", default: false },
        "no-docs": { type: "boolean", default: false },
        guard: { type: "string" },
        only: { type: "string", multiple: true },
        help: { type: "boolean", short: "h", default: false },
      },
    }));
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  if (values.help) return null;
  if (values.quick && values.full) throw new UsageError("--quick and --full exclude one another");
  const profile: Profile = values.full ? PROFILES.full : values.quick ? PROFILES.quick : PROFILES.default;
  const only = values.only?.flatMap((names) => names.split(","));
  return {
    profile,
    parts: chooseParts(only, profile),
    json: values.json,
    strict: values.strict,
    guard: values.guard,
    writesDocs: !only && !values.quick && !values["no-docs"],
  };
}

function chooseParts(only: readonly string[] | undefined, profile: Profile): readonly Part[] {
  if (!only) return PARTS.filter((part) => !part.fullOnly || profile.name === "full");
  for (const name of only) {
    const part = PARTS.find((candidate) => candidate.name === name);
    if (!part) throw new UsageError(`there is no part "${name}"; there are ${PARTS.map((p) => p.name).join(", ")}`);
    if (part.fullOnly && profile.name !== "full") throw new UsageError(`"${name}" needs --full`);
  }
  return PARTS.filter((part) => only.includes(part.name));
}
