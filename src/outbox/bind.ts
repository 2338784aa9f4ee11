/**
 * Captures and binds: how one delivery of a key hands a value to the next, without the engine knowing what it means.
 *
 * Owns: reading a captured value out of a response, and writing it into a payload. Does not own: where captures are kept (the
 * database, under the lane).
 */
import { z } from "zod";
import type { Json } from "../rails/rail.ts";

/** Rows may also be enqueued in plain SQL, so what they ask for is checked here. */
const pathSchema = z.array(z.union([z.string(), z.int().min(0).max(10_000)])).max(32);
const capturesSchema = z.record(z.string(), pathSchema);
const bindsSchema = z.array(z.object({ path: pathSchema, capture: z.string(), required: z.boolean().optional() }));
type Path = z.infer<typeof pathSchema>;

export type Captured = Readonly<Record<string, Json>>;

export type BindResult =
  | { readonly ok: true; readonly payload: Json }
  | { readonly ok: false; readonly code: "binding_missing" | "binding_invalid"; readonly reason: string };

/** What a row wants kept of its response; names whose path leads nowhere are left out. */
export function readCaptures(captures: Json, response: Json | undefined): Captured {
  const wanted = capturesSchema.safeParse(captures);
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

/** The payload with its binds filled in, or what is wrong: a required one that nobody captured, or binds that are none. */
export function fillBinds(payload: Json, binds: Json, captured: Captured): BindResult {
  const wanted = bindsSchema.safeParse(binds);
  if (!wanted.success) return { ok: false, code: "binding_invalid", reason: "The row's binds are malformed." };
  let filled = payload;
  for (const { path, capture, required } of wanted.data) {
    const value = Object.hasOwn(captured, capture) ? captured[capture] : undefined;
    if (value !== undefined) filled = withValueAt(filled, path, value);
    else if (required !== false) {
      return { ok: false, code: "binding_missing", reason: `Nothing was captured as "${capture}".` };
    }
  }
  return { ok: true, payload: filled };
}

function withValueAt(target: Json, path: Path, value: Json): Json {
  const [step, ...rest] = path;
  if (step === undefined) return value;
  if (Array.isArray(target)) {
    const copy = [...target];
    copy[Number(step)] = withValueAt(copy[Number(step)] ?? null, rest, value);
    return copy;
  }
  const from = typeof target === "object" && target !== null ? target : {};
  // defineProperty semantics: a path named "__proto__" stays data.
  return Object.fromEntries([
    ...Object.entries(from),
    [step, withValueAt(Object.hasOwn(from, step) ? (from[step] ?? null) : null, rest, value)],
  ]);
}
