/**
 * Captures and binds: how one delivery of a key hands a value to the next, without the engine knowing what it means.
 *
 * Owns: reading a captured value out of a response, and writing it into a payload. Does not own: where captures are kept (the
 * database, under the lane).
 */
import type { Json } from "../rails/rail.ts";
import type { Bind, JsonPath } from "./enqueue.ts";

export type Captured = Readonly<Record<string, Json>>;

export type BindResult =
  { readonly ok: true; readonly payload: Json } | { readonly ok: false; readonly missing: string };

/** What a row wants kept of its response; names whose path leads nowhere are left out. */
export function readCaptures(captures: Readonly<Record<string, JsonPath>>, response: Json | undefined): Captured {
  const captured: Record<string, Json> = {};
  for (const [name, path] of Object.entries(captures)) {
    const value = valueAt(response, path);
    if (value !== undefined && value !== null) captured[name] = value;
  }
  return captured;
}

function valueAt(value: Json | undefined, path: JsonPath): Json | undefined {
  let current = value;
  for (const step of path) {
    if (typeof current !== "object" || current === null) return undefined;
    current = Array.isArray(current) ? current[Number(step)] : Object.hasOwn(current, step) ? current[step] : undefined;
  }
  return current;
}

/** The payload with its binds filled in, or the name of the first required one that nobody captured. */
export function fillBinds(payload: Json, binds: readonly Bind[], captured: Captured): BindResult {
  let filled = payload;
  for (const bind of binds) {
    const value = Object.hasOwn(captured, bind.capture) ? captured[bind.capture] : undefined;
    if (value !== undefined) filled = withValueAt(filled, bind.path, value);
    else if (bind.required !== false) return { ok: false, missing: bind.capture };
  }
  return { ok: true, payload: filled };
}

function withValueAt(target: Json, path: JsonPath, value: Json): Json {
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
