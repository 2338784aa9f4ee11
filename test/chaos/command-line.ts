/**
 * The flags of `npm run chaos`.
 */
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";

export interface CommandLine {
  readonly seed: number;
  readonly minutes: number;
  readonly relays: number;
  readonly json: boolean;
  readonly planted: boolean;
  /** Provisioning is hurt, and not the delivery engine. */
  readonly provisioning: boolean;
  /** Money is hurt, and not the delivery engine. */
  readonly payments: boolean;
  /** Notifications are hurt, and not the delivery engine. */
  readonly notifications: boolean;
  /** How many payments are made, or things told. Default: by the minutes. */
  readonly count: number | undefined;
  /** How many seeded lives of payments are compared with Stripe's books, instead of hurting everything at once. */
  readonly lives: number | undefined;
  /** The number of the first of them. */
  readonly from: number;
  /** Of the planted bugs, only those whose name holds this. */
  readonly only: string | undefined;
}

export const usage = `Usage: npm run chaos -- [flags]
  --seed N      what chance starts from (printed; by default drawn anew)
  --minutes M   how long faults happen, from 0.1 to 240 (1)
  --relays N    relays at a time, from 1 to 16 (3)
  --json        one JSON object on standard output
  --provisioning  hurts jobs and the runs of their workflows, instead of the delivery engine
  --payments    hurts payments, refunds and disputes, instead of the delivery engine
  --notifications  hurts what people are told, instead of the delivery engine
  --count N     with --payments or --notifications: how many are made, if the minutes are enough, from 20 to 100000 (300, 600 a minute)
  --lives N     with --payments: so many seeded lives of payments, over months, each compared with Stripe's own books
  --from N      with --lives: the number of the first one (0); a seed and a number are one life
  --planted     plants known bugs into copies of the code; each must be caught
  --only TEXT   with --planted: only bugs whose name holds this`;

export class UsageError extends Error {}

export function readCommandLine(parameters: readonly string[]): CommandLine {
  const { values } = parse(parameters);
  return {
    seed: number("seed", values.seed ?? String(randomInt(1, 1_000_000)), 0, 2 ** 32 - 1, true),
    minutes: number("minutes", values.minutes ?? "1", 0.1, 240, false),
    relays: number("relays", values.relays ?? "3", 1, 16, true),
    json: values.json ?? false,
    planted: values.planted ?? false,
    provisioning: values.provisioning ?? false,
    payments: values.payments ?? false,
    notifications: values.notifications ?? false,
    count: values.count === undefined ? undefined : number("count", values.count, 20, 100_000, true),
    lives: values.lives === undefined ? undefined : number("lives", values.lives, 1, 100_000, true),
    from: number("from", values.from ?? "0", 0, 1_000_000, true),
    only: values.only,
  };
}

function parse(parameters: readonly string[]) {
  try {
    return parseArgs({
      args: [...parameters],
      options: {
        seed: { type: "string" },
        minutes: { type: "string" },
        relays: { type: "string" },
        json: { type: "boolean" },
        planted: { type: "boolean" },
        provisioning: { type: "boolean" },
        payments: { type: "boolean" },
        notifications: { type: "boolean" },
        count: { type: "string" },
        lives: { type: "string" },
        from: { type: "string" },
        only: { type: "string" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function number(name: string, text: string, least: number, most: number, whole: boolean): number {
  const value = Number(text);
  if (text.trim() !== "" && value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  throw new UsageError(
    `--${name} must be ${whole ? "a whole number" : "a number"} from ${least} to ${most}, not ${text}`,
  );
}
