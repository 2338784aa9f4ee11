/** How the rail interprets GitHub's answers when it stops and watches runs. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Json, RailMessage } from "../../../../src/contract/rail.ts";
import { createGithubActionsRail, type GithubActionsRail } from "../../../../src/rails/github-actions/rail.ts";
import { messageOf, notAborted } from "../messages.ts";
import { startScriptedServer, type ScriptedAnswer, type ScriptedServer } from "../scripted-server.ts";

const token = "github_pat_very_secret";
const runs = {
  owner: "acme",
  repo: "infra",
  workflow: "provision.yml",
  run_mark: "job-7f3a/1",
  since: "2026-01-01T00:01:00.5+00:00",
};
const stop = { operation: "stop", ...runs };
const watch = { operation: "watch", ...runs };

let github: ScriptedServer;
let rail: GithubActionsRail;

beforeEach(async () => {
  github = await startScriptedServer();
  rail = createGithubActionsRail({ token, apiUrl: github.url, visibleAfterMs: 60_000 });
});

afterEach(async () => {
  rail.close();
  await github.close();
});

const send = (payload: Json, changes: Partial<RailMessage> = {}) =>
  rail.send({ ...messageOf(payload), ...changes }, notAborted);
const lookUp = (payload: Json) => rail.lookup?.({ ...messageOf(payload), tryNo: 2, uncertain: true }, notAborted);
const asked = (): string[] => github.requests.map(({ method, path }) => `${method} ${path.replace(/\?.*$/, "")}`);

const list = "GET /repos/acme/infra/actions/workflows/provision.yml/runs";
const run = (id: number, changes: object = {}) => ({
  id,
  display_title: "Provision job-7f3a/1",
  run_attempt: 1,
  status: "in_progress",
  conclusion: null,
  html_url: `https://x/runs/${id}`,
  ...changes,
});
const ended = (id: number) => run(id, { status: "completed", conclusion: "cancelled" });
const page = (...found: readonly object[]): ScriptedAnswer => ({
  body: { total_count: found.length, workflow_runs: found },
});
const accepted: ScriptedAnswer = { status: 202, body: {} };
const conflict: ScriptedAnswer = { status: 409, body: { message: "Cannot cancel a workflow run that is completed." } };

describe("a stop", () => {
  test("cancels the runs that show the mark and have not ended, and is delivered once all of them have", async () => {
    const others = [
      run(9, { display_title: "Provision job-7f3a/12" }),
      run(8, { display_title: "Clean up job-7f3a/cleanup-1" }),
    ];
    github.script.push(
      page(...others, run(7), ended(6), run(5)),
      accepted,
      accepted,
      page(...others, ended(7), ended(6), ended(5)),
    );
    expect(await send(stop)).toEqual({
      kind: "delivered",
      code: "ended",
      response: {
        runs: [7, 6, 5].map((id) => ({
          id,
          attempt: 1,
          status: "completed",
          conclusion: "cancelled",
          url: `https://x/runs/${id}`,
        })),
      },
    });
    expect(asked()).toEqual([
      list,
      "POST /repos/acme/infra/actions/runs/7/cancel",
      "POST /repos/acme/infra/actions/runs/5/cancel",
      list,
    ]);
    const { searchParams } = new URL(github.requests[0]?.path ?? "", "http://x");
    expect(Object.fromEntries(searchParams)).toMatchObject({
      event: "workflow_dispatch",
      created: ">=2026-01-01T00:00:00Z",
    });
  });

  test("asks again after ten seconds while a run continues, and says which", async () => {
    github.script.push(page(run(7)), accepted, page(run(7)));
    expect(await send(stop)).toEqual({
      kind: "retry",
      code: "still_running",
      reason: expect.stringContaining("run 7: in_progress"),
      afterMs: 10_000,
    });
  });

  test("uses force from the fourth try on", async () => {
    for (const tryNo of [3, 4]) {
      github.script.push(page(run(7)), accepted, page(ended(7)));
      expect(await send(stop, { tryNo })).toMatchObject({ kind: "delivered" });
    }
    expect(asked().filter((each) => each.startsWith("POST"))).toEqual([
      "POST /repos/acme/infra/actions/runs/7/cancel",
      "POST /repos/acme/infra/actions/runs/7/force-cancel",
    ]);
  });

  test("omits force where the server does not support it", async () => {
    github.script.push(page(run(7)), { status: 404, body: {} }, accepted, page(ended(7)));
    expect(await send(stop, { tryNo: 4 })).toMatchObject({ kind: "delivered" });
    expect(asked().at(-2)).toBe("POST /repos/acme/infra/actions/runs/7/cancel");
  });

  test("trusts the runs and not the refusal when a run can no longer be cancelled, or not yet", async () => {
    github.script.push(page(run(7)), conflict, page(ended(7)));
    expect(await send(stop)).toMatchObject({ kind: "delivered" });
    const unqueued = { status: 409, body: { message: "Cannot cancel a workflow run that has not been queued yet." } };
    github.script.push(page(run(7, { status: "queued" })), unqueued, page(run(7, { status: "queued" })));
    expect(await send(stop)).toMatchObject({ kind: "retry", code: "still_running" });
  });

  test("still cancels the other runs when GitHub cannot cancel one", async () => {
    github.script.push(page(run(7), run(6)), { status: 500, body: {} }, accepted, page(run(7), ended(6)));
    expect(await send(stop)).toMatchObject({ kind: "unknown", code: "http_5xx" });
    expect(asked()).toHaveLength(4);
  });

  test("stops asking when GitHub asks for a pause", async () => {
    github.script.push(page(run(7), run(6)), { status: 429, headers: { "retry-after": "60" }, body: {} });
    expect(await send(stop)).toMatchObject({ kind: "retry", code: "ratelimited", afterMs: 60_000, throttled: true });
    expect(asked()).toHaveLength(2);
  });

  test("cancels a limited number of runs in one try", async () => {
    const many = Array.from({ length: 30 }, (_none, at) => run(100 + at));
    github.script.push(page(...many), ...many.slice(0, 20).map(() => accepted), page(...many));
    expect(await send(stop)).toMatchObject({ kind: "retry", code: "still_running" });
    expect(asked()).toHaveLength(22);
  });

  test("checks a second time before it believes that there is no run", async () => {
    github.script.push(page(), page());
    expect(await send(stop)).toMatchObject({ kind: "retry", code: "may_still_appear", afterMs: 60_000 });
    expect(await send(stop, { tryNo: 2 })).toEqual({ kind: "delivered", code: "ended", response: { runs: [] } });
  });

  test("stops what it sees when there are more runs than it can read, and does not claim to have stopped all", async () => {
    const full = page(
      ...Array.from({ length: 100 }, (_none, at) => run(at + 1, { display_title: `Provision job-${at}` })),
    );
    const pages = Array.from({ length: 9 }, () => full);
    const last = (seen: object): ScriptedAnswer =>
      page(seen, ...Array.from({ length: 99 }, (_none, at) => run(at + 1, { display_title: "x" })));
    github.script.push(...pages, last(run(777)), accepted, ...pages, last(ended(777)));
    expect(await send(stop)).toMatchObject({ kind: "retry", code: "too_many_to_search" });
    expect(asked()).toContain("POST /repos/acme/infra/actions/runs/777/cancel");
  });

  test("whose outcome is unknown has happened when all runs have ended, and otherwise is sent again", async () => {
    github.script.push(page(ended(7)), page(run(7), ended(6)), page(), { status: 500, body: {} });
    expect(await lookUp(stop)).toMatchObject({ kind: "found", response: { runs: [{ id: 7 }] } });
    expect(await lookUp(stop)).toEqual({ kind: "absent" });
    expect(await lookUp(stop)).toEqual({ kind: "absent" });
    expect(await lookUp(stop)).toMatchObject({ kind: "unavailable", code: "http_5xx" });
  });
});

describe("a watch", () => {
  test("reads the run that it is given", async () => {
    github.script.push({ body: run(7, { run_attempt: 2, status: "completed", conclusion: "failure" }) });
    expect(await send({ ...watch, run_id: 7 })).toEqual({
      kind: "delivered",
      code: "200",
      response: {
        runs: [{ id: 7, attempt: 2, status: "completed", conclusion: "failure", url: "https://x/runs/7" }],
      },
    });
    expect(asked()).toEqual(["GET /repos/acme/infra/actions/runs/7"]);
  });

  test("distinguishes a missing run from an invisible repository", async () => {
    const missing = { status: 404, body: { message: "Not Found" } };
    github.script.push(missing, { body: { id: 1, state: "active" } }, missing, missing);
    expect(await send({ ...watch, run_id: 7 })).toEqual({ kind: "delivered", code: "200", response: { runs: [] } });
    expect(await send({ ...watch, run_id: 7 })).toMatchObject({ kind: "rejected", code: "http_404" });
  });

  test("lists the newest runs that show the mark, and no more than twenty", async () => {
    github.script.push(
      page(...Array.from({ length: 30 }, (_none, at) => run(at + 1)), run(99, { display_title: "other" })),
    );
    const newest = Array.from({ length: 20 }, (_none, at) => ({ id: 30 - at }));
    expect(await send(watch)).toMatchObject({ kind: "delivered", response: { runs: newest } });
  });

  test("treats an unreadable run as unknown, and an answer without a run as none", async () => {
    github.script.push(
      { body: { id: 7, status: { odd: true }, run_attempt: "x", html_url: 5 } },
      { body: { odd: true } },
    );
    expect(await send({ ...watch, run_id: 7 })).toMatchObject({
      response: { runs: [{ id: 7, attempt: 1, status: null, conclusion: null, url: null }] },
    });
    expect(await send({ ...watch, run_id: 7 })).toMatchObject({ kind: "unknown", code: "bad_answer" });
  });

  test("whose outcome is unknown is repeated, without a lookup", async () => {
    expect(await lookUp(watch)).toEqual({ kind: "absent" });
    expect(github.requests).toEqual([]);
  });

  test("of an unreachable server is tried again", async () => {
    const far = createGithubActionsRail({ token, apiUrl: "http://127.0.0.1:1" });
    expect(await far.send(messageOf(watch), notAborted)).toMatchObject({ kind: "retry", code: "connect_refused" });
    far.close();
  });
});

test.each([
  ["a dispatch", { ...runs, run_mark: undefined, since: undefined, ref: "main", job_id: "job-7f3a" }],
  ["a stop", stop],
  ["a watch", watch],
])("%s that the token may not make says which permission is missing, and no secret", async (_what, payload) => {
  const refusal = { status: 403, body: { message: `Resource not accessible by ${token} ${"x".repeat(1_000)}` } };
  github.script.push({ ...refusal, headers: { "x-accepted-github-permissions": "actions=write" } }, refusal);
  for (const named of ["GitHub asks for Actions: write", "Contents: read"]) {
    const outcome = await send(JSON.parse(JSON.stringify(payload)) as Json);
    expect(outcome).toMatchObject({ kind: "retry", code: "http_403", reason: expect.stringContaining(named) });
    expect(outcome).toMatchObject({ reason: expect.stringContaining("Actions: write") });
    expect(JSON.stringify(outcome)).not.toContain(token);
  }
});
