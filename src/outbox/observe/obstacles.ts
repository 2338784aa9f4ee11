/**
 * What holds rows up without being an error of any row: rails that no relay serves, and destinations that are not called after failures.
 * Each is logged when it begins and when it ends.
 */
import { call, type Queryable } from "../../db/call.ts";
import type { RelayLogEntry } from "./log.ts";

/** Relays report every minute what they serve. */
const servedWithinSeconds = 180;

export class Obstacles {
  readonly #tell: (entry: RelayLogEntry) => void;
  #rails: ReadonlySet<string> = new Set();
  #circuits: ReadonlySet<string> = new Set();

  constructor(tell: (entry: RelayLogEntry) => void) {
    this.#tell = tell;
  }

  async look(db: Queryable): Promise<void> {
    const rails = (await call(db, "outbox.rail_status", {})).filter(
      (row) => row.waiting > 0 && (row.served_seconds_ago ?? Infinity) >= servedWithinSeconds,
    );
    for (const { rail, waiting } of rails) {
      if (!this.#rails.has(rail)) this.#tell({ level: "warn", event: "rail_not_served", rail, rows: waiting });
    }
    const deserted = new Set(rails.map(({ rail }) => rail));
    for (const rail of this.#rails) if (!deserted.has(rail)) this.#tell({ level: "info", event: "rail_served", rail });
    this.#rails = deserted;

    const circuits = (await call(db, "outbox.destination_status", {})).filter(({ circuit }) => circuit !== "closed");
    for (const { destination, failures, last_error_code: code } of circuits) {
      if (!this.#circuits.has(destination)) {
        this.#tell({ level: "warn", event: "circuit_opened", destination, failures, code });
      }
    }
    const open = new Set(circuits.map(({ destination }) => destination));
    for (const destination of this.#circuits) {
      if (!open.has(destination)) this.#tell({ level: "info", event: "circuit_closed", destination });
    }
    this.#circuits = open;
  }
}
