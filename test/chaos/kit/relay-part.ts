/**
 * For the program of a relay: runs it, reports its number when it is ready, and kills it at one step of one kind of call if told to.
 */
import { z } from "zod";
import type { Rail, RailMessage } from "../../../src/contract/rail.ts";
import { createRelay } from "../../../src/outbox/relay/relay.ts";
import { endWithStarter, sayReady } from "./part-process.ts";

export const trapSteps = ["send.before", "send.after", "settle.before", "settle.after"] as const;

/** The call is one of this rail, or one with this operation in its payload. */
export const relayTrapSchema = z.object({
  rail: z.string().optional(),
  operation: z.string().optional(),
  at: z.enum(trapSteps),
});
export type RelayTrap = z.infer<typeof relayTrapSchema>;

interface RelayPart {
  readonly connectionString: string;
  readonly rails: readonly Rail[];
  readonly streams: readonly string[];
  readonly reapMs: number;
  readonly trap: RelayTrap | undefined;
}

const operationOf = z.object({ operation: z.string() });

export async function runRelayPart({ connectionString, rails, streams, reapMs, trap }: RelayPart): Promise<void> {
  endWithStarter();
  /** Whether a call of the kind that the trap waits for is in progress. */
  let isArmed = false;

  function isMeant(rail: Rail, { payload }: RailMessage): boolean {
    if (trap?.operation === undefined) return trap?.rail === rail.name;
    const dispatch = rail.name === "github-actions" ? "dispatch" : undefined;
    return (operationOf.safeParse(payload).data?.operation ?? dispatch) === trap.operation;
  }
  function reach(step: string): void {
    if (isArmed && step === trap?.at) process.kill(process.pid, "SIGKILL");
  }
  const trapped = (rail: Rail): Rail => ({
    ...rail,
    send(message, context) {
      isArmed ||= isMeant(rail, message);
      reach("send.before");
      return rail.send(message, context);
    },
  });

  const relay = createRelay({
    connectionString,
    rails: rails.map(trapped),
    streams: [...streams],
    pollMs: 250,
    reapMs,
    leaseMarginMs: 500,
    // At the step before a send, the kind of the call is not known yet.
    onStep: (step) => step !== "send.before" && reach(step),
    log({ event, ...entry }) {
      if (event === "relay_started") sayReady(Number(entry["relayId"]));
    },
  });
  try {
    await relay.start();
  } catch {
    process.exit(1);
  }
}
