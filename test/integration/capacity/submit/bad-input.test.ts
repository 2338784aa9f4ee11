/**
 * Random input to the functions that members and machines may call: each call is done or refused. A refusal is the caller's fault by its
 * state, reveals no internals, and has written nothing.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { date, json, mostly, number, send, session, text } from "../anything.ts";
import { createCall, createValues, startWorkflow } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("anything at all on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);

  test("given to create_capacity_request is either a request or a refusal", async () => {
    const terms = [text, text, text, json, text, number, text, date, number, number, number];
    const kinds = [...terms, text, text, text, text, text, text];
    const given = fc.tuple(...kinds.map((kind, index) => mostly(createValues({})[index], kind)));
    const done = { yes: 0, no: 0 };
    await fc.assert(
      fc.asyncProperty(session, given, async (who, values) => {
        done[(await send(workflow, who, createCall, values)) ? "yes" : "no"] += 1;
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
      mostly(null, text),
      mostly(null, text),
    );
    const preview =
      "select public.preview_capacity_request($1, $2, $3, $4, $5, $6, $7, $8, $9, p_customer_id => $10, p_justification => $11)";
    await fc.assert(
      fc.asyncProperty(session, given, async (who, values) => {
        await send(workflow, who, preview, values);
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
        await send(workflow, who, "select public.apply_capacity_event($1, $2, $3, $4, $5, $6)", values);
      }),
      { numRuns: 300 },
    );
    await workflow.expectWhole(ids);
  });

  test("given to get_capacity_request is either a story or a refusal", async () => {
    await fc.assert(
      fc.asyncProperty(session, fc.option(text, { nil: null }), async (who, id) => {
        await send(workflow, who, "select public.get_capacity_request($1)", [id]);
      }),
      { numRuns: 50 },
    );
  });
});
