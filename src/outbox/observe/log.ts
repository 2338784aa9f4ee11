/**
 * What a relay tells while it runs, for whoever keeps a log. Does not own: where it goes, nor how it looks there.
 */

/** One line of what a relay has to tell. Fields are numbers, codes and ids: never payloads, addresses or secrets. */
export interface RelayLogEntry {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly event: string;
  readonly [field: string]: string | number | boolean | null | undefined;
}

export type Log = (entry: RelayLogEntry) => void;
