/**
 * Random input for the tests of bad input: texts, numbers, dates, JSON and sessions, good and bad, and the check of the outcome.
 *
 * Does not own: which function gets which input.
 */
import fc from "fast-check";
import { expect } from "vitest";
import { anonymous, memberSession, overHttp, service, type Session } from "./gateway.ts";
import { rowsOf, type Workflow } from "./harness.ts";

const inAWeek = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);

// The driver cannot send NUL, and Postgres could not keep it.
const withoutNul = (value: string): string => value.replaceAll("\0", "");
export const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }).map(withoutNul),
  fc.constantFrom("rita", "cora", "infra", "acme", "CR-2026-000001", "'; select 1; --", "%s%s", "$1", "{}", "null"),
  fc.string({ minLength: 5000, maxLength: 6000 }).map(withoutNul),
);
export const number = fc.oneof(
  fc.integer(),
  fc.constantFrom(0, -1, 2_147_483_648, 1e300, "NaN", "Infinity", "12abc", ""),
);
export const date = fc.oneof(text, fc.constantFrom("infinity", "0001-01-01", "99999-01-01", "2026-02-30", inAWeek));
export const json = fc.oneof(
  fc.json({ maxDepth: 12 }).filter((value) => !value.includes(String.raw`\u0000`)),
  fc.record({ reason: fc.oneof(fc.jsonValue(), text) }).map((value) => withoutNul(JSON.stringify(value))),
  text,
  fc.constantFrom(
    "[".repeat(3000) + "]".repeat(3000),
    '{"a":'.repeat(1500) + "1" + "}".repeat(1500),
    `{"reason":"${"x".repeat(20_000)}"}`,
    "{",
    '{"a":"\\u0007"}',
    '{"a":"\\ud800"}',
    '{"reason":"a","counts":true}',
  ),
);
export const session = fc.constantFrom<Session>(
  service,
  service,
  memberSession("rita"),
  memberSession("ada"),
  anonymous,
);

/** Mostly valid values, so that a single wrong argument among right ones is tried. */
export const mostly = (valid: unknown, kind: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(valid) }, { weight: 1, arbitrary: fc.option(kind, { nil: null }) });

/** A refusal is the caller's fault by its state, or something that is not set up, and reveals no internals. */
export function expectRefusal(error: unknown): void {
  const { code, message } = error as { code: string; message: string };
  expect(code, message).toMatch(/^(PT4\d\d|PT503|22...|42501|54001)$/);
  expect(message).not.toMatch(/capacity\.|outbox\.|column|relation|plpgsql/i);
}

/** Sends it as one request over HTTP and reports whether it was done. A refusal has written nothing. */
export async function send(
  workflow: Workflow,
  who: Session,
  call: string,
  values: readonly unknown[],
): Promise<boolean> {
  const before = await workflow.size();
  try {
    await overHttp(workflow.db, who, (client) => rowsOf(client, call, values));
    return true;
  } catch (error) {
    expectRefusal(error);
    expect(await workflow.size()).toEqual(before);
    return false;
  }
}
