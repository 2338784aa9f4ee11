/**
 * Arbitrarily deep JSON, signed as Slack signs: refused as bad input wherever it is, however much stack the parser has, and nothing is
 * written.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { codeOf, oneOf } from "../../capacity/harness.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { form, sign, startSlack, team } from "./slack.ts";

const arrays = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const objects = (depth: number): string => `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;

/** Where nested JSON may be in what Slack sends. */
const places: readonly ((nested: string) => string)[] = [
  (nested) => nested,
  (nested) => `{"type":"event_callback","event_id":"Ev1","event":${nested}}`,
  (nested) => form({ payload: nested }),
  (nested) => form({ payload: `{"type":${nested}}` }),
  (nested) =>
    form({
      payload: `{"type":"view_submission","user":{"id":"U0RITA"},"team":{"id":"${team}"},"trigger_id":"1.2.3","view":{"callback_id":"capacity_intake","state":{"values":${nested}}}}`,
    }),
  (nested) =>
    form({
      payload: `{"type":"block_actions","user":{"id":"U0RITA"},"team":{"id":"${team}"},"trigger_id":"1.2.3","actions":[{"action_id":"cancel","value":${nested}}]}`,
    }),
];

describe.each(POSTGRES_VERSIONS)("nested JSON on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);

  test("is refused as bad input at every depth and in every place, and leaves nothing behind", async () => {
    const before = await slack.written();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...places),
        fc.constantFrom(arrays, objects),
        fc.oneof(fc.integer({ min: 65, max: 20_000 }), fc.constantFrom(100_000)),
        async (place, kind, depth) => {
          const body = place(kind(depth));
          const code = body.length > 1_048_576 ? "payload_too_large" : "invalid_input";
          expect(await codeOf(slack.send(sign(body)))).toBe(code);
        },
      ),
      { numRuns: 60 },
    );
    expect(await slack.written()).toEqual(before);
  });

  test("as deep as the stack allows is refused, however large the server lets its stack grow", async () => {
    const client = await slack.workflow.db.superuser.connect();
    for (const size of ["100kB", "512kB", "2MB"]) {
      await client.query("select set_config('max_stack_depth', $1, false)", [size]);
      for (const depth of [70, 500, 1_000, 2_500, 5_000, 7_500, 10_000, 50_000]) {
        const parsed = client.query("select inbound.parse_json($1)", [`{"a":${arrays(depth)}}`]);
        expect([size, depth, await codeOf(parsed)]).toEqual([size, depth, "invalid_input"]);
      }
    }
    await client.end();
  });

  test("as deep as providers nest is read", async () => {
    const { type } = await oneOf<{ type: string }>(
      slack.workflow.superuser,
      "select jsonb_typeof(inbound.parse_json($1) -> 'a') as type",
      [`{"a":${arrays(60)}}`],
    );
    expect(type).toBe("array");
  });

  test("in the headers or the claims is treated as missing", async () => {
    const client = await slack.begin();
    for (const name of ["request.headers", "request.jwt.claims"]) {
      await client.query("select set_config($1, $2, true)", [name, arrays(50_000)]);
      await client.query("select public.check_request()");
    }
    await client.query("rollback");
    await client.end();
  });
});
