/**
 * Anything at all, given to the functions that members and machines may call: it is either done or refused, a refusal is the
 * caller's fault by its state and tells nothing about our insides, and then nothing was written.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { anonymous, memberSession, overHttp, service, type Session } from "./gateway.ts";
import { createCall, createValues, rowsOf, startWorkflow } from "./workflow.ts";

const inAWeek = new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10);

// The driver cannot send NUL, and Postgres could not keep it.
const withoutNul = (value: string): string => value.replaceAll("\0", "");
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }).map(withoutNul),
  fc.constantFrom("rita", "cora", "infra", "acme", "CR-2026-000001", "'; select 1; --", "%s%s", "$1", "{}", "null"),
  fc.string({ minLength: 5000, maxLength: 6000 }).map(withoutNul),
);
const number = fc.oneof(fc.integer(), fc.constantFrom(0, -1, 2_147_483_648, 1e300, "NaN", "Infinity", "12abc", ""));
const date = fc.oneof(text, fc.constantFrom("infinity", "0001-01-01", "99999-01-01", "2026-02-30", inAWeek));
const json = fc.oneof(
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
const session = fc.constantFrom<Session>(service, service, memberSession("rita"), memberSession("ada"), anonymous);

/** Mostly what would pass, so that one wrong argument among right ones is reached. */
const mostly = (valid: unknown, kind: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(valid) }, { weight: 1, arbitrary: fc.option(kind, { nil: null }) });

function expectRefusal(error: unknown): void {
  const { code, message } = error as { code: string; message: string };
  expect(code, message).toMatch(/^(PT4\d\d|22...|42501|54001)$/);
  expect(message).not.toMatch(/capacity\.|outbox\.|column|relation|plpgsql/i);
}

describe.each(POSTGRES_VERSIONS)("anything at all on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);

  /** Sends it as one request over HTTP; says whether it was done. */
  const send = async (who: Session, call: string, values: readonly unknown[]): Promise<boolean> => {
    const before = await workflow.size();
    try {
      await overHttp(workflow.db, who, (client) => rowsOf(client, call, values));
      return true;
    } catch (error) {
      expectRefusal(error);
      expect(await workflow.size()).toEqual(before);
      return false;
    }
  };

  test("given to create_capacity_request is either a request or a refusal", async () => {
    const kinds = [text, text, text, json, text, number, text, date, number, number, number, text, text, text, text];
    const given = fc.tuple(...kinds.map((kind, index) => mostly(createValues({})[index], kind)));
    const done = { yes: 0, no: 0 };
    await fc.assert(
      fc.asyncProperty(session, given, async (who, values) => {
        done[(await send(who, createCall, values)) ? "yes" : "no"] += 1;
      }),
      { numRuns: 200 },
    );
    await workflow.expectWhole();
    expect(Math.min(done.yes, done.no)).toBeGreaterThan(0);
  });

  test("given to preview_capacity_request is either a plan or a refusal", async () => {
    const given = fc.tuple(
      mostly("rita", text),
      mostly("cora", text),
      mostly("infra", text),
      mostly("32XL", text),
      mostly(4, number),
      mostly("us-east-1", text),
      mostly(500, number),
      mostly("acme", text),
      mostly(null, text),
    );
    await fc.assert(
      fc.asyncProperty(session, given, async (who, values) => {
        await send(who, "select public.preview_capacity_request($1, $2, $3, $4, $5, $6, $7, $8, $9)", values);
      }),
      { numRuns: 100 },
    );
  });

  test("given to apply_capacity_event is either an event or a refusal", async () => {
    const ids: string[] = [];
    for (let n = 0; n < 20; n += 1) ids.push((await workflow.create()).id);
    const event = fc.constantFrom(
      "COMMERCIAL_APPROVED",
      "CANCEL_APPROVED",
      "CUSTOMER_CONFIRMED",
      "TECH_REVIEW_REJECTED",
    );
    const given = fc.tuple(
      fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...ids) }, { weight: 1, arbitrary: text }),
      fc.oneof({ weight: 6, arbitrary: event }, { weight: 1, arbitrary: fc.option(text, { nil: null }) }),
      mostly("user", fc.oneof(text, fc.constantFrom("system", "cron", "customer"))),
      fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom("cora", "rita", "ada", "tess") },
        { weight: 1, arbitrary: fc.option(text, { nil: null }) },
      ),
      fc.oneof({ weight: 1, arbitrary: fc.constant('{"reason":"x"}') }, { weight: 2, arbitrary: json }),
      mostly(null, number),
    );
    await fc.assert(
      fc.asyncProperty(session, given, async (who, values) => {
        await send(who, "select public.apply_capacity_event($1, $2, $3, $4, $5, $6)", values);
      }),
      { numRuns: 300 },
    );
    await workflow.expectWhole(ids);
  });

  test("given to get_capacity_request is either a story or a refusal", async () => {
    await fc.assert(
      fc.asyncProperty(session, fc.option(text, { nil: null }), async (who, id) => {
        await send(who, "select public.get_capacity_request($1)", [id]);
      }),
      { numRuns: 50 },
    );
  });
});
