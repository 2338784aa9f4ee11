/**
 * Whatever Slack, or an attacker with its secret, might sign: an answer or a clear refusal, never a database error, and never an unwanted
 * request, event or person.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { viewSchema } from "../../../../src/sandbox/slack/block-kit.ts";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { oneOf, refusalOf } from "../../capacity/harness.ts";
import { clickBody, commandBody, form, sign, startSlack, submissionBody, team, type Slack } from "./slack.ts";

/** What a form can contain: everything but a zero byte, which has its own test. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }).map((value) => value.replaceAll("\0", "").toWellFormed()),
  fc.constantFrom(
    "'; drop table capacity.requests; --",
    "$(reboot)",
    "%00",
    "\\u0000",
    "{{",
    "<!channel>",
    "👩‍👩‍👧‍👦",
    "x".repeat(5_000),
    "CR-2026-000001",
    "create",
    "for",
    "x4",
    "by",
    "-1",
    "1e400",
    "NaN",
  ),
);
const words = fc.array(text, { maxLength: 12 }).map((parts) => parts.join(" "));

/** Delivers it and returns the result. Anything but an answer or a refusal of ours fails. */
async function outcomeOf(slack: Slack, body: string): Promise<"answered" | "refused"> {
  const work = slack.send(sign(body));
  const answer = await work.catch(() => undefined);
  if (answer !== undefined) {
    expect(typeof answer).toBe("object");
    return "answered";
  }
  const { code, message, detail, hint } = await refusalOf(work);
  expect([code, message]).toEqual([Buffer.byteLength(body) > 1_048_576 ? "PT413" : "PT400", expect.any(String)]);
  expect(`${message} ${detail} ${hint}`).not.toMatch(/capacity\.|inbound\.|jsonb|pg_|SQLSTATE|syntax/);
  return "refused";
}

const workflowOf = async (slack: Slack): Promise<object> => ({ ...(await slack.workflow.size()), messages: 0 });

describe.each(POSTGRES_VERSIONS)("signed garbage on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);

  async function holds(bodies: fc.Arbitrary<string>, options: { writesNothing: boolean }): Promise<void> {
    const before = options.writesNothing ? await slack.written() : await workflowOf(slack);
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        await outcomeOf(slack, body);
      }),
      { numRuns: 120 },
    );
    expect(options.writesNothing ? await slack.written() : await workflowOf(slack)).toEqual(before);
  }

  test("texts, forms and JSON of any kind are refused, and nothing is written", async () => {
    const json = fc.jsonValue({ maxDepth: 5 }).map((value) => JSON.stringify(value));
    await holds(
      fc.oneof(
        text,
        json,
        fc.dictionary(text, text, { maxKeys: 6 }).map(form),
        json.map((value) => form({ payload: value })),
        text.map((value) => form({ command: "/capacity", text: value, user_id: value, team_id: team })),
        fc
          .constantFrom(
            "block_actions",
            "view_submission",
            "view_closed",
            "shortcut",
            "message_action",
            "event_callback",
          )
          .chain((type) =>
            fc.jsonValue().map((user) => form({ payload: JSON.stringify({ type, user, actions: user }) })),
          ),
      ),
      { writesNothing: true },
    );
  });

  test.each([
    ["nothing", ""],
    ["half a percent sign", "payload=%"],
    ["a zero byte", "text=%00&command=%2Fcapacity"],
    ["a zero in JSON", form({ payload: String.raw`{"type":"block_actions","user":{"id":"U0RITA\u0000"}}` })],
    ["half a surrogate in JSON", form({ payload: String.raw`{"type":"block_actions","user":{"id":"\ud800"}}` })],
    ["deeply nested JSON", form({ payload: "[".repeat(50_000) })],
    ["a number too large for numbers", form({ payload: '{"type":"block_actions","user":{"id":1e999999}}' })],
    ["an invalid team", commandBody("help", "U0RITA", { team_id: "acme" })],
    ["an invalid user", commandBody("help", "rita")],
    ["more than a megabyte", `text=${"x".repeat(1_100_000)}`],
  ])("%s is refused, and nothing is written", async (_what, body) => {
    const before = await slack.written();
    expect(await outcomeOf(slack, body)).toBe("refused");
    expect(await slack.written()).toEqual(before);
  });

  test("commands of any words are answered, and none makes a request by accident", async () => {
    const verbs = fc.constantFrom(
      "",
      "list",
      "show",
      "help",
      "cancel",
      "approve",
      "reject",
      "confirm",
      "decline",
      "zap",
    );
    await holds(
      fc.tuple(verbs, words).map(([verb, rest]) => commandBody(`${verb} ${rest}`)),
      { writesNothing: false },
    );
    await holds(
      words.map((rest) => commandBody(`create ${rest} owner nobody`)),
      { writesNothing: false },
    );
  });

  test("clicks on anything, with any value, decide nothing", async () => {
    const actions = fc.constantFrom("commercial_approve", "tech_reject", "cancel", "customer_confirm", "zap", "");
    await holds(
      fc
        .tuple(actions, text, fc.jsonValue())
        .map(([action, value, wild]) =>
          clickBody(action, value, "U0CORA", { channel: null, container: wild, message: wild }),
        ),
      { writesNothing: false },
    );
  });

  test("forms with anything in them are answered at a field that they have", async () => {
    const fields = [
      "size",
      "quantity",
      "region",
      "customer",
      "email",
      "needed_by",
      "days",
      "cost",
      "owner",
      "group",
      "reason",
    ];
    const element = fc.oneof(
      text.map((value) => ({ value })),
      text.map((value) => ({ selected_date: value })),
      text.map((value) => ({ selected_option: { value } })),
      fc.jsonValue().map((value) => ({ value })),
    );
    await holds(
      fc
        .tuple(
          fc.constantFrom("capacity_intake", "capacity_reason"),
          fc.dictionary(fc.constantFrom(...fields), element),
          fc.jsonValue(),
        )
        .map(([callback, entered, metadata]) =>
          submissionBody(callback, { ...entered, owner: {} }, { metadata }, "U0RITA"),
        ),
      { writesNothing: false },
    );
  });
});

const complaints = (view: unknown): string[] =>
  viewSchema.safeParse(view).error?.issues.map(({ path, message }) => `${path.join(".")}: ${message}`) ?? [];

describe("forms, whatever was typed", async () => {
  const slack = await startSlack(18);
  const viewOf = async (call: string, values: unknown[]): Promise<unknown> =>
    (await oneOf<{ view: unknown }>(slack.workflow.superuser, `select ${call} as view`, values)).view;

  test("the form for a request keeps Slack's limits", async () => {
    const names = [
      "size",
      "quantity",
      "region",
      "customer",
      "email",
      "needed_by",
      "days",
      "cost",
      "owner",
      "group",
      "justification",
    ];
    const fields = fc.dictionary(fc.constantFrom(...names), text);
    const groups = fc.array(fc.record({ id: text, name: text }), { maxLength: 150 });
    await fc.assert(
      fc.asyncProperty(fields, groups, text, async (given, offered, channel) => {
        const view = await viewOf("inbound.render_intake($1, $2, $3)", [
          JSON.stringify(given),
          JSON.stringify(offered),
          channel,
        ]);
        expect(complaints(view)).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test("the form for a reason keeps Slack's limits", async () => {
    await fc.assert(
      fc.asyncProperty(text, text, text, async (...given) => {
        expect(
          complaints(
            await viewOf(
              "inbound.render_reason($1, $2, $3)",
              given.map((value) => value || "x"),
            ),
          ),
        ).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });

  test("the command line's text fills the form's fields", async () => {
    await fc.assert(
      fc.asyncProperty(words, async (line) => {
        const { fields } = (await viewOf("inbound.parse_terms($1)", [line])) as { fields: object };
        expect(complaints(await viewOf("inbound.render_intake($1, '[]', null)", [JSON.stringify(fields)]))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});
