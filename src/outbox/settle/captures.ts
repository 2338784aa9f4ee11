/**
 * Captures: what a delivery keeps of its answer for later rows of its key, without the engine knowing what it means.
 *
 * Owns: reading a captured value out of a response. Does not own: where captures are kept, nor putting them into the rows that bind
 * them (the database, `outbox.fill_binds`).
 */
import { z } from "zod";
import type { Json } from "../../contract/rail.ts";

const pathSchema = z.array(z.union([z.string(), z.int().min(0).max(10_000)])).max(32);
const capturesSchema = z.record(z.string(), pathSchema);
type Path = z.infer<typeof pathSchema>;

export type Captured = Readonly<Record<string, Json>>;

/** What a row wants kept of its response; names whose path leads nowhere are left out. */
export function readCaptures(captures: string, response: Json | undefined): Captured {
  const wanted = capturesSchema.safeParse(JSON.parse(captures));
  const captured: Record<string, Json> = {};
  for (const [name, path] of Object.entries(wanted.data ?? {})) {
    const value = valueAt(response, path);
    if (value !== undefined && value !== null) captured[name] = value;
  }
  return captured;
}

function valueAt(value: Json | undefined, path: Path): Json | undefined {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Array.isArray(current) ? current[Number(step)] : Object.hasOwn(current, step) ? current[step] : undefined;
  }
  return current;
}
