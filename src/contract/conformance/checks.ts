/**
 * The form of what a rail returns, checked field by field: rails may come from plain JavaScript.
 */
import assert from "node:assert/strict";
import { withTimeout } from "../../db/wait/with-timeout.ts";
import type { RailHarness } from "./harness.ts";
import { type LookupOutcome, maxReasonChars, type RailMessage, type RailOutcome } from "../rail.ts";

/** Long enough for the slowest machine; a rail that needs longer is stuck. */
const defaultPatienceMs = 10_000;

/** Fails if the promise does not settle; a case must not hang the suite. */
export async function within<T>(harness: RailHarness, promise: Promise<T>, what: string): Promise<T> {
  const patienceMs = harness.patienceMs ?? defaultPatienceMs;
  const result = await withTimeout(promise, patienceMs);
  if (result.kind === "done") return result.value;
  throw new assert.AssertionError({ message: `waited too long for ${what}` });
}

/** A message that throws when a rail writes to it: the relay uses the same object after the call. */
export function frozen(message: RailMessage): RailMessage {
  freeze(message);
  return message;
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || value instanceof Date || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}

type Fields = Readonly<Record<string, (value: unknown) => boolean>>;

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isFlag = (value: unknown): boolean => typeof value === "boolean";
const isDelay = (value: unknown): boolean => typeof value === "number" && Number.isFinite(value) && value >= 0;
const isReason = (value: unknown): boolean =>
  typeof value === "string" && value !== "" && value.length <= maxReasonChars && !/\p{Cc}/u.test(value);
const isJson = (value: unknown): boolean => value !== undefined && JSON.stringify(value) !== undefined;

interface Form {
  readonly required: Fields;
  readonly optional: Fields;
}

const failed: Form = {
  required: { code: isText, reason: isReason },
  optional: { afterMs: isDelay, throttled: isFlag },
};

const outcomeForms: Readonly<Record<RailOutcome["kind"], Form>> = {
  delivered: { required: {}, optional: { reference: isText, code: isText, response: isJson } },
  retry: failed,
  rejected: { required: { code: isText, reason: isReason }, optional: { gone: isFlag } },
  unknown: failed,
};

const lookupForms: Readonly<Record<LookupOutcome["kind"], Form>> = {
  found: { required: {}, optional: { reference: isText, response: isJson } },
  absent: { required: {}, optional: {} },
  unavailable: { required: { code: isText, reason: isReason }, optional: { afterMs: isDelay } },
};

export function assertOutcome(harness: RailHarness, value: unknown): RailOutcome {
  assertForm<RailOutcome>(harness, value, outcomeForms);
  if (value.kind !== "delivered") assertDeclared(harness, value.code);
  return value;
}

export function assertLookup(harness: RailHarness, value: unknown): LookupOutcome {
  assertForm<LookupOutcome>(harness, value, lookupForms);
  if (value.kind === "unavailable") assertDeclared(harness, value.code);
  return value;
}

function assertForm<T extends { kind: string }>(
  harness: RailHarness,
  value: unknown,
  forms: Readonly<Record<T["kind"], Form>>,
): asserts value is T {
  assert.ok(typeof value === "object" && value !== null, `an outcome must be an object, not ${String(value)}`);
  const fields = new Map<string, unknown>(Object.entries(value));
  const kind = String(fields.get("kind"));
  const form = new Map(Object.entries<Form>(forms)).get(kind);
  assert.ok(form !== undefined, `there is no outcome of the kind ${kind}`);
  fields.delete("kind");
  for (const name of Object.keys(form.required)) assert.ok(fields.has(name), `${kind} must have ${name}`);
  for (const [name, field] of fields) {
    const isGood = form.required[name] ?? form.optional[name];
    assert.ok(isGood !== undefined, `${kind} must not have ${name}`);
    assert.ok(isGood(field), `${name} of ${kind} is malformed: ${JSON.stringify(field)}`);
  }
  // A response is passed to captures and never stored, so only the rest is searched for secrets.
  fields.delete("response");
  const stored = [...fields.values()].map(String).join("\n");
  for (const secret of harness.secrets) assert.ok(!stored.includes(secret), "an outcome must not repeat a secret");
}

function assertDeclared(harness: RailHarness, code: string): void {
  assert.ok(harness.rail.codes?.includes(code) === true, `the code ${code} is not among the rail's declared codes`);
}
