import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLinearRail } from "../../../../src/rails/linear/rail.ts";
import type { LinearRail } from "../../../../src/rails/linear/rail.ts";
import type { Json } from "../../../../src/contract/rail.ts";
import { messageOf, notAborted } from "../messages.ts";
import { startScriptedServer } from "../scripted-server.ts";
import type { ScriptedAnswer, ScriptedServer } from "../scripted-server.ts";

const apiKey = "lin_api_very_secret";
const id = randomUUID();
const issue = {
  operation: "issueCreate",
  team_id: "team-1",
  state_kind: "started",
  input: { id, teamId: "team-1", title: "CR-2026-000001: 2 × large", description: "…" },
};
const comment = { operation: "commentCreate", input: { id, issueId: "issue-1", body: "Approved." } };
const update = { operation: "issueUpdate", id: "issue-1", input: { description: "new", stateId: "state-9" } };

const states = {
  body: {
    data: {
      team: {
        states: {
          nodes: [
            { id: "second", type: "started", position: 20 },
            { id: "first", type: "started", position: 10 },
            { id: "done", type: "completed", position: 5 },
          ],
        },
      },
    },
  },
};
const created = {
  body: { data: { issueCreate: { success: true, issue: { id, identifier: "CAP-7", url: "https://x/7" } } } },
};
const commented = { body: { data: { commentCreate: { success: true, comment: { id } } } } };
const refusedAs = (code: string, message = "no"): ScriptedAnswer => ({
  body: { data: null, errors: [{ message, extensions: { code, type: "whatever" } }] },
});
const notFound = refusedAs("INPUT_ERROR", "Entity not found: Issue");

let linear: ScriptedServer;
let rail: LinearRail;

beforeEach(async () => {
  linear = await startScriptedServer();
  rail = createLinearRail({ apiKey, apiUrl: `${linear.url}/graphql` });
});

afterEach(async () => {
  rail.close();
  await linear.close();
});

const send = (payload: Json) => rail.send(messageOf(payload), notAborted);
const lookUp = (payload: Json) => rail.lookup?.(messageOf(payload), notAborted);
/** The documents that were sent, with their variables. */
const asked = (): unknown[] =>
  linear.requests.map(({ body }) => {
    const { query, variables }: { query: string; variables: unknown } = JSON.parse(body);
    return [/^(?:query|mutation) (\w+)/.exec(query)?.[1], variables];
  });

describe("an issue in Linear", () => {
  test("is created under its own id, in the team's first state of the kind, and its id can be captured", async () => {
    linear.script.push(states, created);
    expect(await send(issue)).toEqual({
      kind: "delivered",
      code: "success",
      reference: "CAP-7",
      response: { issue: { id, identifier: "CAP-7", url: "https://x/7" } },
    });
    expect(asked()).toEqual([
      ["States", { teamId: "team-1" }],
      ["IssueCreate", { input: { ...issue.input, stateId: "first" } }],
    ]);
    expect(linear.requests[1]).toMatchObject({ path: "/graphql", headers: { authorization: apiKey } });
  });

  test("keeps the state that the row names, and looks up none", async () => {
    linear.script.push({ body: { data: { issueUpdate: { success: true, issue: { id: "issue-1" } } } } });
    expect(await send(update)).toMatchObject({ kind: "delivered", response: { issue: { id: "issue-1" } } });
    expect(asked()).toEqual([["IssueUpdate", { id: "issue-1", input: update.input }]]);
  });

  test("is created without a state when the team has none of the kind", async () => {
    linear.script.push(states, created);
    expect(await send({ ...issue, state_kind: "canceled" })).toMatchObject({ kind: "delivered" });
    expect(asked()[1]).toEqual(["IssueCreate", { input: issue.input }]);
  });

  test("is not created when the states could not be read, and nothing is uncertain about it", async () => {
    linear.script.push({ status: 500, body: "" });
    expect(await send(issue)).toMatchObject({ kind: "retry", code: "states_unavailable" });
    expect(linear.requests).toHaveLength(1);
  });

  test("in a cached state that was refused is tried again with the current states", async () => {
    linear.script.push(states, created, refusedAs("INPUT_ERROR", "state is gone"), notFound);
    await send(issue);
    expect(await send(issue)).toMatchObject({ kind: "retry", code: "state_changed" });
    linear.script.push(states, refusedAs("INPUT_ERROR"), notFound);
    expect(await send(issue)).toMatchObject({ kind: "rejected", code: "invalid_input" });
  });

  test("that exists already was made by an earlier try: it is read back and treated as delivered", async () => {
    linear.script.push(states, refusedAs("INPUT_ERROR", "Entity with this id already exists"), {
      body: { data: { issue: { id, identifier: "CAP-7" } } },
    });
    expect(await send(issue)).toEqual({
      kind: "delivered",
      code: "duplicate",
      reference: "CAP-7",
      response: { issue: { id, identifier: "CAP-7" } },
    });
  });

  test("that was refused and cannot be read back stays uncertain", async () => {
    linear.script.push(refusedAs("INPUT_ERROR"), { status: 502, body: "" });
    expect(await send(comment)).toMatchObject({ kind: "unknown", code: "bad_answer" });
  });
});

describe("Linear's answer", () => {
  const reset = Date.parse("2026-01-01T00:01:30Z");
  const quiet = {
    date: "Thu, 01 Jan 2026 00:01:00 GMT",
    "x-ratelimit-requests-remaining": "0",
    "x-ratelimit-requests-reset": String(reset),
    "x-ratelimit-complexity-remaining": "200",
    "x-ratelimit-complexity-reset": String(reset + 600_000),
  };

  test.each<[string, ScriptedAnswer, object]>([
    [
      "that asks for a pause, with HTTP 400",
      { ...refusedAs("RATELIMITED"), status: 400, headers: quiet },
      { kind: "retry", code: "ratelimited", afterMs: 30_000, throttled: true },
    ],
    [
      "that asks for a pause, with HTTP 429",
      { status: 429, headers: { "retry-after": "9" }, body: "" },
      { kind: "retry", code: "ratelimited", afterMs: 9_000, throttled: true },
    ],
    [
      "that knows no key",
      { ...refusedAs("AUTHENTICATION_ERROR", `bad key ${apiKey}`), status: 401 },
      { kind: "retry", code: "not_authenticated", reason: expect.not.stringContaining(apiKey) },
    ],
    [
      "with a type in the place of a code",
      { body: { errors: [{ message: "busy", extensions: { type: "lock timeout" } }] } },
      { kind: "retry", code: "lock_timeout" },
    ],
    ["that it failed internally", refusedAs("INTERNAL_SERVER_ERROR"), { kind: "unknown", code: "internal_error" }],
    ["of a failing gateway", { status: 502, body: "<html>" }, { kind: "unknown", code: "http_5xx" }],
    ["of a balancer that lost track of it", { status: 503, body: "" }, { kind: "unknown", code: "http_5xx" }],
    [
      "of a balancer that says for how long",
      { status: 503, headers: { "retry-after": "9" }, body: "" },
      { kind: "unknown", code: "http_5xx", afterMs: 9_000, throttled: true },
    ],
    [
      "of a failing server, with an unknown code",
      { ...refusedAs("COSMIC_RAY"), status: 503 },
      { kind: "unknown", code: "http_5xx" },
    ],
    ["of a busy server that says so", { ...refusedAs("LOCK_TIMEOUT"), status: 503 }, { code: "lock_timeout" }],
    ["of a proxy", { status: 407, body: "" }, { kind: "retry", code: "http_other" }],
    ["without any data", { body: { data: null } }, { kind: "unknown", code: "bad_answer" }],
    ["that is not JSON", { body: "{" }, { kind: "unknown", code: "bad_answer" }],
    ["about something else", { body: { data: { viewer: {} } } }, { kind: "unknown", code: "bad_answer" }],
  ])("%s", async (_what, answer, outcome) => {
    linear.script.push(answer);
    expect(await send(comment)).toMatchObject(outcome);
    expect(linear.requests).toHaveLength(1);
  });

  test.each<[string, ScriptedAnswer, object]>([
    ["an unknown code", refusedAs("COSMIC_RAY"), { kind: "rejected", code: "linear_error" }],
    ["no success and no reason", { body: { data: { commentCreate: { success: false } } } }, { code: "not_done" }],
    ["a plan that lacks it", refusedAs("FEATURE_NOT_ACCESSIBLE"), { code: "feature_not_accessible" }],
  ])("that refuses (%s) is final once nothing is found under the id", async (_what, answer, outcome) => {
    linear.script.push(answer, { body: { data: { comment: null } } });
    expect(await send(comment)).toMatchObject({ kind: "rejected", ...outcome });
    expect(asked()[1]).toEqual(["Comment", { id }]);
  });

  test("that quotes what was sent is stored without the quotation", async () => {
    const body = 'Initech "crossed"\nthe rubicon';
    linear.script.push(
      refusedAs(
        "GRAPHQL_VALIDATION_FAILED",
        `Variable "$input" got invalid value ${JSON.stringify(body)} at "input.body"`,
      ),
      { body: { data: { comment: null } } },
    );
    const outcome = await send({ ...comment, input: { ...comment.input, body } });
    expect(outcome).toMatchObject({ reason: expect.stringContaining("GRAPHQL_VALIDATION_FAILED") });
    expect(JSON.stringify(outcome)).not.toMatch(/initech|rubicon|got invalid/i);
  });

  test("to a comment names it", async () => {
    linear.script.push(commented);
    expect(await send(comment)).toEqual({
      kind: "delivered",
      code: "success",
      reference: id,
      response: { comment: { id } },
    });
  });
});

describe("a search in Linear", () => {
  test("finds what exists, misses what does not, and does not treat a failure as an answer", async () => {
    linear.script.push({ body: { data: { issue: { id, identifier: "CAP-7" } } } }, notFound, { status: 500, body: "" });
    expect(await lookUp(issue)).toMatchObject({ kind: "found", reference: "CAP-7", response: { issue: { id } } });
    expect(await lookUp(issue)).toEqual({ kind: "absent" });
    expect(await lookUp(issue)).toMatchObject({ kind: "unavailable", code: "http_5xx" });
    linear.script.push({ body: { data: { issue: { id: "another" } } } });
    expect(await lookUp(issue)).toMatchObject({ kind: "unavailable", code: "bad_answer" });
  });

  test("is not made for an update, which may always be repeated", async () => {
    expect(await lookUp(update)).toEqual({ kind: "absent" });
    expect(linear.requests).toHaveLength(0);
  });
});

test("what is not a message for Linear is refused before any call", () => {
  const bad: Json[] = [
    null,
    { operation: "issueDelete", id: "issue-1" },
    { ...comment, input: { ...comment.input, id: "not-a-uuid" } },
    { ...comment, input: { id, body: "where?" } },
    { ...issue, state_kind: "someday" },
    { operation: "issueUpdate", input: {} },
  ];
  for (const payload of bad)
    expect(rail.validate?.(messageOf(payload)), JSON.stringify(payload)).toMatchObject({ ok: false });
  for (const payload of [issue, comment, update]) expect(rail.validate?.(messageOf(payload))).toEqual({ ok: true });
});
