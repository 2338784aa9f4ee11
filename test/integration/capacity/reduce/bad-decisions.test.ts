/**
 * Random input to the functions that say or decide something about an existing request, by members, machines and holders of a link: each
 * call is done or refused, and a refusal has written nothing.
 */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { json, mostly, number, send, session, text } from "../anything.ts";
import { anonymous, memberSession, service, type Session } from "../gateway.ts";
import { oneOf, startWorkflow } from "../harness.ts";

const secretKey = "0123456789abcdef0123456789abcdef";
const member = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("rita", "cora", "ada", "tess", "carl", null) },
  { weight: 1, arbitrary: text },
);
/** Also callers who know nothing of these requests. */
const anybody = fc.oneof(session, fc.constantFrom<Session>(memberSession("carl"), memberSession("glen", "globex")));

describe.each(POSTGRES_VERSIONS)("any decision at all on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const ids: string[] = [];
  const tokens: string[] = [];

  beforeAll(async () => {
    await workflow.superuser.query(`alter database ${workflow.db.name} set headroom.secret_key = '${secretKey}'`);
    const client = await workflow.db.superuser.connect();
    await client.query("select headroom.set_secret('CONFIRMATION_TOKEN_SECRET', repeat('s', 32))");
    for (let n = 0; n < 10; n += 1) {
      ids.push(await workflow.createIn(n % 2 === 0 ? "UNDER_REVIEW" : "CUSTOMER_CONFIRMATION_REQUIRED"));
      const offered = await workflow.createIn("CUSTOMER_CONFIRMATION_REQUIRED");
      const { token } = await oneOf<{ token: string }>(
        client,
        "select capacity.confirmation_token(r.confirmation_token_id) as token from capacity.requests r where r.id = $1",
        [offered],
      );
      tokens.push(token);
    }
  });

  const anyId = () => fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...ids) }, { weight: 1, arbitrary: text });
  const anyToken = () =>
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...tokens) },
      { weight: 1, arbitrary: fc.constantFrom(...tokens).map((token) => token.slice(1) + token.slice(0, 1)) },
      { weight: 1, arbitrary: fc.option(text, { nil: null }) },
    );

  /** Tries it many times; some must succeed and some be refused, or the test would prove nothing. */
  async function tryOut(
    who: fc.Arbitrary<Session>,
    call: string,
    given: readonly fc.Arbitrary<unknown>[],
    numRuns = 100,
  ): Promise<void> {
    const done = { yes: 0, no: 0 };
    await fc.assert(
      fc.asyncProperty(who, fc.tuple(...given), async (caller, values) => {
        done[(await send(workflow, caller, call, values)) ? "yes" : "no"] += 1;
      }),
      { numRuns },
    );
    await workflow.expectWhole();
    expect(Math.min(done.yes, done.no)).toBeGreaterThan(0);
  }

  test("given to describe_confirmation is either an offer or a refusal", async () => {
    await tryOut(fc.constantFrom(anonymous, service), "select public.describe_confirmation($1)", [anyToken()]);
  });

  test("given to nudge_capacity_request is either a nudge or a refusal", async () => {
    await tryOut(anybody, "select public.nudge_capacity_request($1, $2)", [anyId(), member]);
  });

  test("given to note_capacity_request is either a note or a refusal", async () => {
    await tryOut(anybody, "select public.note_capacity_request($1, $2, $3)", [anyId(), mostly("hello", text), member]);
  });

  test("given to decide_capacity_request is either a decision or a refusal", async () => {
    const event = fc.constantFrom("COMMERCIAL_APPROVED", "CUSTOMER_CONFIRMED", "TECH_REVIEW_APPROVED");
    const given = [
      anyId(),
      fc.oneof({ weight: 6, arbitrary: event }, { weight: 1, arbitrary: fc.option(text, { nil: null }) }),
      member,
      fc.oneof({ weight: 1, arbitrary: fc.constant("{}") }, { weight: 1, arbitrary: json }),
      mostly(null, number),
    ];
    await tryOut(anybody, "select public.decide_capacity_request($1, $2, $3, $4, $5)", given, 300);
  });

  test("given to decide_by_token is either an answer or a refusal", async () => {
    const given = [anyToken(), mostly("confirm", fc.oneof(text, fc.constant("decline"))), mostly(null, text)];
    await tryOut(fc.constantFrom(anonymous, service), "select public.decide_by_token($1, $2, $3)", given);
  });

  test("given to erase_customer is either an erasure or a refusal", async () => {
    await tryOut(anybody, "select public.erase_customer($1, $2, $3)", [anyId(), mostly("asked to", text), member]);
  });

  test("given to run_capacity_request_timers is either a sweep or a refusal", async () => {
    await tryOut(session, "select public.run_capacity_request_timers($1)", [mostly(10, number)], 50);
  });

  test("given to a link while links are not set up is a refusal", async () => {
    await workflow.superuser.query("delete from headroom.boxes");
    for (const [call, values] of [
      ["select public.describe_confirmation($1)", [tokens[0]]],
      ["select public.decide_by_token($1, $2)", [tokens[0], "confirm"]],
    ] as const) {
      expect(await send(workflow, anonymous, call, values)).toBe(false);
    }
  });
});
