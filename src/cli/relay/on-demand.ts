/**
 * The relay behind a server's route: a drainer together with the rails that only it uses.
 *
 * Owns: the order of their end. Does not own: delivering (src/outbox/drain.ts), nor which rails there are (rails.ts).
 */
import { createDrainer, type Drainer } from "../../outbox/drain.ts";
import type { Rail } from "../../rails/rail.ts";
import type { Log } from "./log.ts";
import { closeRails } from "./rails.ts";

export function createOnDemandRelay(url: string, rails: readonly Rail[], log: Log): Drainer {
  const drainer = createDrainer({ connectionString: url, rails, log });
  return {
    drain: (limits) => drainer.drain(limits),
    async close() {
      try {
        await drainer.close();
      } finally {
        closeRails(rails);
      }
    },
  };
}
