/**
 * The relay behind a server's route: a drainer together with the rails that only it uses, and the timers and what people are told, which come before its turns.
 *
 * Owns: the order of their end, and the turns that nobody asked for. Does not own: delivering (src/outbox/relay/drain.ts), what is due by the clock
 * (src/capacity/timers.ts), nor which rails there are (rails.ts).
 */
import { sweepBeforeTurns } from "../../capacity/timers.ts";
import { toHeadroomError } from "../../db/errors.ts";
import { createDrainer, type Drainer } from "../../outbox/relay/drain.ts";
import { pause } from "../../db/wait/pause.ts";
import { releaseBeforeTurns } from "../../notify/index.ts";
import type { Rail } from "../../contract/rail.ts";
import { raiseAlerts } from "../../webhooks/alerts.ts";
import type { Log } from "./log.ts";
import { servedStreams } from "./options.ts";
import { closeRails } from "./rails.ts";

export interface OnDemandRelay extends Drainer {
  /** Takes a turn every minute until it is closed: what is due by the clock, such as a further try, calls no webhook. */
  keepTurning(everyMs?: number): void;
}

const turnEveryMs = 60_000;

export function createOnDemandRelay(
  url: string,
  rails: readonly Rail[],
  log: Log,
  streams?: readonly string[],
): OnDemandRelay {
  const sweep = sweepBeforeTurns({ log });
  const release = releaseBeforeTurns({ log });
  const drainer = createDrainer({
    connectionString: url,
    rails,
    streams: servedStreams(streams),
    log,
    upkeepTasks: [raiseAlerts],
    async beforeTurn(turn) {
      await sweep(turn);
      // After the timers, which tell people things.
      await release(turn);
    },
  });
  const closing = new AbortController();
  let turning: Promise<void> | undefined;
  return {
    drain: (limits) => drainer.drain(limits),
    keepTurning(everyMs = turnEveryMs) {
      turning ??= turnEvery(everyMs, drainer, log, closing.signal);
    },
    async close() {
      closing.abort();
      try {
        await drainer.close();
        await turning;
      } finally {
        closeRails(rails);
      }
    },
  };
}

async function turnEvery(everyMs: number, drainer: Drainer, log: Log, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // Spread, so that servers started together do not come together.
    await pause(everyMs * (0.9 + Math.random() * 0.2), signal);
    if (signal.aborted) return;
    try {
      while ((await drainer.drain({ signal })).more && !signal.aborted) await pause(betweenTurnsMs, signal);
    } catch (error) {
      if (!signal.aborted) log({ level: "warn", event: "turn_failed", code: toHeadroomError(error).code });
    }
  }
}

/** While there is more to do, as when another turn is under way. */
const betweenTurnsMs = 1_000;
