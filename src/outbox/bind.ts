/**
 * Captures and binds: how one delivery of a key hands a value to the next, without the engine knowing what it means; and how a
 * row that says how things stand gets its text only now, when it is sent.
 *
 * Owns: reading a captured value out of a response, and writing values into a payload. Does not own: where captures are kept and
 * what a renderer makes (the database, under the lane and by the renderer's name).
 */
import { z } from "zod";
import type { Json } from "../rails/rail.ts";

/** Rows may also be enqueued in plain SQL, so what they ask for is checked here. */
const pathSchema = z.array(z.union([z.string(), z.int().min(0).max(10_000)])).max(32);
const capturesSchema = z.record(z.string(), pathSchema);
const bindSchema = z.union([
  z.object({ path: pathSchema, capture: z.string(), required: z.boolean().optional() }),
  z.object({ path: pathSchema, renderer: z.string() }),
]);
const bindsSchema = z.array(bindSchema);
type Path = z.infer<typeof pathSchema>;

export type Captured = Readonly<Record<string, Json>>;

/** What the renderers that a row names made of it, by their names; a problem where one failed. */
export type Rendered = Readonly<Record<string, { readonly value: Json } | { readonly problem: string }>>;

export interface BindSources {
  readonly captured: Captured;
  readonly rendered: Rendered;
}

export type BindResult =
  | { readonly ok: true; readonly payload: Json }
  | {
      readonly ok: false;
      /** A renderer may succeed at the next try; a capture that nobody made will not appear by waiting. */
      readonly outcome: "rejected" | "retry";
      readonly code: "binding_missing" | "binding_invalid" | "render_failed";
      readonly reason: string;
    };

/** Whether a row needs a renderer before it can be sent. */
export function namesRenderer(binds: Json): boolean {
  return Array.isArray(binds) && binds.some((bind) => typeof bind === "object" && bind !== null && "renderer" in bind);
}

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
export function fillBinds(payload: Json, binds: Json, sources: BindSources): BindResult {
  const wanted = bindsSchema.safeParse(binds);
  if (!wanted.success) {
    return { ok: false, outcome: "rejected", code: "binding_invalid", reason: "The row's binds are malformed." };
  }
  let filled = payload;
  for (const bind of wanted.data) {
    const found = "renderer" in bind ? renderedValue(bind.renderer, sources) : capturedValue(bind, sources);
    if ("ok" in found) return found;
    if (found.value !== undefined) filled = withValueAt(filled, bind.path, found.value);
  }
  return { ok: true, payload: filled };
}

type Found = { readonly value: Json | undefined } | Extract<BindResult, { ok: false }>;

function capturedValue(bind: { capture: string; required?: boolean | undefined }, { captured }: BindSources): Found {
  const value = Object.hasOwn(captured, bind.capture) ? captured[bind.capture] : undefined;
  if (value !== undefined || bind.required === false) return { value };
  const reason = `Nothing was captured as "${bind.capture}".`;
  return { ok: false, outcome: "rejected", code: "binding_missing", reason };
}

function renderedValue(renderer: string, { rendered }: BindSources): Found {
  const made = Object.hasOwn(rendered, renderer) ? rendered[renderer] : undefined;
  if (made !== undefined && "value" in made) return made;
  const reason = `The renderer "${renderer}" made nothing: ${made?.problem ?? "the database does not know it"}`;
  return { ok: false, outcome: "retry", code: "render_failed", reason };
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
