import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createGithubActionsRail } from "../../../../src/rails/github-actions/rail.ts";
import type { GithubActionsRail } from "../../../../src/rails/github-actions/rail.ts";
import type { Json, RailMessage } from "../../../../src/contract/rail.ts";
import { messageOf, notAborted } from "../messages.ts";
import { startScriptedServer } from "../scripted-server.ts";
import type { ScriptedAnswer, ScriptedServer } from "../scripted-server.ts";

const token = "github_pat_very_secret";
const job = "job-7f3a";
const dispatch = {
  owner: "acme",
  repo: "infra",
  workflow: "provision.yml",
  ref: "main",
  inputs: { size: "32XL", quantity: 4, dry_run: false },
  job_id: job,
};
const started = { body: { workflow_run_id: 4711, run_url: "https://x/api", html_url: "https://x/runs/4711" } };

let github: ScriptedServer;
let rail: GithubActionsRail;

beforeEach(async () => {
  github = await startScriptedServer();
  rail = createGithubActionsRail({ token, apiUrl: `${github.url}/github/`, visibleAfterMs: 60_000 });
});

afterEach(async () => {
  rail.close();
  await github.close();
});

const send = (payload: Json = dispatch) => rail.send(messageOf(payload), notAborted);
const lookUp = (changes: Partial<RailMessage> = {}) =>
  rail.lookup?.({ ...messageOf(dispatch), ...changes }, notAborted);
const bodyOf = (index: number): unknown => JSON.parse(github.requests[index]?.body ?? "");

describe("a dispatch", () => {
  test("has the job's id among its inputs, as texts, and returns the run", async () => {
    github.script.push(started);
    expect(await send()).toEqual({
      kind: "delivered",
      code: "200",
      reference: "4711",
      response: { run: { id: 4711, url: "https://x/runs/4711" } },
    });
    expect(github.requests[0]).toMatchObject({
      method: "POST",
      path: "/github/repos/acme/infra/actions/workflows/provision.yml/dispatches",
      headers: { authorization: `Bearer ${token}`, "x-github-api-version": "2022-11-28" },
    });
    expect(bodyOf(0)).toEqual({
      ref: "main",
      inputs: { size: "32XL", quantity: "4", dry_run: "false", job_id: job },
      return_run_details: true,
    });
  });

  test("to an older server is sent without the field that it refuses, and so is the next one immediately", async () => {
    github.script.push({ status: 422, body: { message: "Invalid request." } }, { status: 204 }, { status: 204 });
    expect(await send()).toEqual({ kind: "delivered", code: "204" });
    expect(await send()).toEqual({ kind: "delivered", code: "204" });
    expect([bodyOf(0), bodyOf(1), bodyOf(2)].map((body) => Object.keys(body ?? {}).length)).toEqual([3, 2, 2]);
  });

  test("that is refused for another reason stays refused, and the field is tried again the next time", async () => {
    const refused = { status: 422, body: { message: `No ref found for: main ${token}` } };
    github.script.push(refused, refused, started);
    const outcome = await send();
    expect(outcome).toMatchObject({
      kind: "rejected",
      code: "http_422",
      reason: expect.stringContaining("No ref found"),
    });
    expect(JSON.stringify(outcome)).not.toContain(token);
    expect(await send()).toMatchObject({ kind: "delivered", code: "200" });
  });

  test.each<[string, ScriptedAnswer, object]>([
    ["a failing server", { status: 500, body: "" }, { kind: "unknown", code: "http_5xx" }],
    ["a failing gateway", { status: 502, body: "" }, { kind: "unknown", code: "http_5xx" }],
    ["a server that is busy", { status: 503, body: "" }, { kind: "unknown", code: "http_5xx" }],
    [
      "a server that says for how long it is busy",
      { status: 503, headers: { "retry-after": "9" }, body: "" },
      { kind: "unknown", code: "http_5xx", afterMs: 9_000, throttled: true },
    ],
    ["a server that did not receive all of it", { status: 408, body: "" }, { kind: "retry", code: "http_408" }],
    [
      "a page instead of an answer",
      { headers: { "content-type": "text/html" }, body: "<p>" },
      { kind: "unknown", code: "bad_answer" },
    ],
    ["an unknown token", { status: 401, body: {} }, { kind: "retry", code: "http_401" }],
    [
      "a token without the right",
      { status: 403, body: { message: "Resource not accessible" } },
      { kind: "retry", code: "http_403" },
    ],
    [
      "a limit that is used up",
      {
        status: 403,
        headers: {
          date: "Thu, 01 Jan 2026 00:00:00 GMT",
          "x-ratelimit-remaining": "0",
          "x-ratelimit-reset": "1767225630",
        },
        body: {},
      },
      { kind: "retry", code: "ratelimited", afterMs: 30_000, throttled: true },
    ],
    [
      "a request for a pause",
      { status: 429, headers: { "retry-after": "60" }, body: {} },
      { kind: "retry", code: "ratelimited", afterMs: 60_000, throttled: true },
    ],
    ["no such workflow", { status: 404, body: { message: "Not Found" } }, { kind: "rejected", code: "http_404" }],
    [
      "a repository that has moved",
      { status: 301, headers: { location: "/x" }, body: {} },
      { kind: "rejected", code: "http_3xx" },
    ],
    [
      "a proxy that redirects elsewhere for the moment",
      { status: 307, headers: { location: "/x" }, body: {} },
      { kind: "retry", code: "redirected" },
    ],
  ])("meets %s", async (_what, answer, outcome) => {
    github.script.push(answer);
    expect(await send()).toMatchObject(outcome);
    expect(github.requests).toHaveLength(1);
  });

  test("that could not be found again, or would reveal a secret, is refused before any call", () => {
    const many = Object.fromEntries(Array.from({ length: 25 }, (_none, at) => [`input_${at}`, "x"]));
    const bad: Json[] = [
      null,
      { ...dispatch, job_id: "1" },
      { ...dispatch, owner: "acme/../other" },
      { ...dispatch, inputs: many },
      { ...dispatch, inputs: { job_id: "another" } },
      { ...dispatch, inputs: { api_key: "x" } },
      { ...dispatch, inputs: { deploy_token: "x" } },
      { ...dispatch, inputs: { nested: { a: 1 } } },
      { ...dispatch, inputs: { long: "x".repeat(70_000) } },
    ];
    for (const payload of bad)
      expect(rail.validate?.(messageOf(payload)), JSON.stringify(payload).slice(0, 100)).toMatchObject({ ok: false });
    expect(rail.validate?.(messageOf(dispatch))).toEqual({ ok: true });
  });
});

const page = (...titles: readonly string[]): ScriptedAnswer => ({
  body: {
    total_count: titles.length,
    workflow_runs: titles.map((title, at) => ({ id: 100 + at, display_title: title })),
  },
});

describe("a search for a run", () => {
  test("asks for dispatched runs since shortly before the row was made, and recognises its own by the name", async () => {
    github.script.push(page("Provision job-7f3a2", "Provision xjob-7f3a", `Provision (${job}) 32XL`));
    const createdAt = new Date("2026-01-01T00:01:00Z");
    const run = expect.objectContaining({ id: 102, status: null }) as unknown;
    expect(await lookUp({ createdAt })).toEqual({ kind: "found", reference: "102", response: { run } });
    const path = new URL(github.requests[0]?.path ?? "", "http://x");
    expect(path.pathname).toBe("/github/repos/acme/infra/actions/workflows/provision.yml/runs");
    expect(Object.fromEntries(path.searchParams)).toMatchObject({
      event: "workflow_dispatch",
      created: ">=2026-01-01T00:00:00Z",
      page: "1",
    });
  });

  test("returns all that have the name, with their status, so that none is mistaken for the one that answered", async () => {
    github.script.push(page(`Provision ${job}`, `Provision ${job}`));
    expect(await lookUp()).toMatchObject({
      kind: "found",
      response: {
        run: [
          { id: 101, status: null },
          { id: 100, status: null },
        ],
      },
    });
  });

  test("continues while pages are full, and gives up without a verdict", async () => {
    const full = page(...Array.from({ length: 100 }, (_none, at) => `Provision job-${at}`));
    github.script.push(full, page(`Provision ${job}`));
    expect(await lookUp()).toMatchObject({ kind: "found" });
    github.script.push(...Array.from({ length: 10 }, () => full));
    expect(await lookUp()).toMatchObject({ kind: "unavailable", code: "too_many_to_search" });
  });

  test("does not trust an empty result so soon after an attempt whose outcome is unknown", async () => {
    github.script.push({ status: 500, body: "" }, page("Provision job-other"));
    const message = { ...messageOf(dispatch), uncertain: true };
    await rail.send(message, notAborted);
    const outcome = await rail.lookup?.(message, notAborted);
    expect(outcome).toMatchObject({ kind: "unavailable", code: "may_still_appear", afterMs: expect.any(Number) });
  });

  test("that fails says nothing about the run", async () => {
    github.script.push({ status: 500, body: "" });
    expect(await lookUp()).toMatchObject({ kind: "unavailable", code: "http_5xx" });
  });
});
