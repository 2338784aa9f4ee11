/**
 * How the log of a relay and of a server looks: a line for a person, or one JSON object a line.
 *
 * Owns: which fields may appear. An entry is built from codes, numbers and ids; any other field is left out until it is
 * added to this list.
 */
import { styleText } from "node:util";
import type { HttpLogEntry } from "../../http/dependencies.ts";
import type { RelayLogEntry } from "../../outbox/observe/log.ts";
import { visible } from "../output.ts";

const shownFields = [
  "relayId",
  "name",
  "streams",
  "stream",
  "rail",
  "outboxId",
  "destination",
  "key",
  "seq",
  "rows",
  "keys",
  "partitions",
  "lanes",
  "count",
  "code",
  "sqlState",
  "attempt",
  "failures",
  "what",
  "request",
  "expired",
  "warned",
  "reminded",
  "late",
  "message",
] as const;

/** The fields of an HTTP request in the log: its route's pattern, never its path, which may contain a token. */
const shownHttpFields = [
  "requestId",
  "method",
  "route",
  "status",
  "durationMs",
  "role",
  "code",
  "sqlState",
  "message",
] as const;

const colours = { debug: "gray", info: "green", warn: "yellow", error: "red" } as const;

export type Log = (entry: RelayLogEntry) => void;

/** Where lines go: stdout, unless that is reserved for one answer to a program. */
export function createLog(json: boolean, stream: NodeJS.WriteStream = process.stdout): Log {
  const write = createWriter(json, stream);
  return (entry) => write(entry, shownFields);
}

/** The HTTP server's log next to the relay's. People see only what went wrong; programs see everything. */
export function createHttpLog(
  json: boolean,
  stream: NodeJS.WriteStream = process.stdout,
): (entry: HttpLogEntry) => void {
  const write = createWriter(json, stream);
  return (entry) => {
    if (json || entry.level === "error" || entry.level === "warn") write(entry, shownHttpFields);
  };
}

interface Entry {
  readonly level: keyof typeof colours;
  readonly event: string;
}

function createWriter(json: boolean, stream: NodeJS.WriteStream) {
  return <T extends Entry>(entry: T, names: readonly (keyof T & string)[]): void => {
    const shown = names.flatMap((name) => {
      const value = entry[name];
      return value === undefined || value === null ? [] : [[name, value] as const];
    });
    const time = new Date().toISOString();
    if (json) {
      stream.write(
        `${JSON.stringify({ time, level: entry.level, event: entry.event, ...Object.fromEntries(shown) })}\n`,
      );
      return;
    }
    const level = styleText(colours[entry.level], entry.level.padEnd(5), { stream });
    const fields = shown.map(([name, value]) => `${name}=${visible(String(value))}`);
    stream.write(`${[time, level, entry.event.replaceAll("_", " "), ...fields].join("  ")}\n`);
  };
}
