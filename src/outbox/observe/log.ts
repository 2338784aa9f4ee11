/**
 * What a relay logs while it runs. Does not own: where the log goes, nor its format.
 */

/** One log entry of a relay. Fields are numbers, codes and ids: never payloads, addresses or secrets. */
export interface RelayLogEntry {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly event: string;
  readonly [field: string]: string | number | boolean | null | undefined;
}

export type Log = (entry: RelayLogEntry) => void;
