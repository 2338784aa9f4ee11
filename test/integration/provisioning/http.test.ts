/**
 * Callbacks of runs and GitHub's webhooks over real HTTP: the raw bytes, answers with their own status, and limits that one workspace
 * cannot use up for another.
 */
import { createHmac, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createClient } from "../../../src/client/index.ts";
import { setSecret } from "../../../src/db/secrets/index.ts";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { memberToken, startTestGateway } from "../http/harness.ts";
import { secretKey, startProvisioning, type Job, type Said, type SendOptions } from "./harness.ts";

const p = await startProvisioning(18);
const gateway = await startTestGateway(p.db, { database: { secretKey } });

function post(path: string, body: string, headers: Record<string, string>, url = gateway.url): Promise<Response> {
  return fetch(`${url}${path}`, { method: "POST", body, headers: { "content-type": "application/json", ...headers } });
}

async function report(job: Job, said: Said, options?: SendOptions): Promise<{ status: number; answer: unknown }> {
  const { body, headers } = await p.signed(job, said, options);
  const response = await post("/webhooks/provisioning", body, headers);
  return { status: response.status, answer: await response.json() };
}

function written(): Promise<unknown> {
  return oneOf(
    p.superuser,
    `select (select count(*) from provisioning.callbacks) as callbacks, (select sum(version) from provisioning.jobs) as versions,
            (select count(*) from inbound.receipts) as receipts`,
  );
}

describe("/webhooks/provisioning", () => {
  test("tells a run to continue with its terms, and accepts its result", async () => {
    const job = await p.confirmed();
    expect(await report(job, { signal: "claim" })).toMatchObject({
      status: 200,
      answer: { go_on: true, outcome: "accepted", job: { request_id: job.request_id, size: "32XL", attempt: 1 } },
    });
    expect(await report(job, { signal: "heartbeat", step: "Aufräumen, 100 % 🚀", progress: 7 })).toMatchObject({
      status: 200,
      answer: { go_on: true },
    });
    expect(await report(job, { signal: "succeeded" })).toMatchObject({ status: 200, answer: { go_on: false } });
    expect(await p.job(job.request_id)).toMatchObject({ state: "running" });
    const [run] = await rowsOf<{ step: string }>(
      p.superuser,
      "select step from provisioning.attempts where job_id = $1",
      [job.id],
    );
    expect(run?.step).toBe("Aufräumen, 100 % 🚀");
  });

  test("the same function works without our server, and answers with the same status", async () => {
    const job = await p.confirmed();
    const { body, headers } = await p.signed(job, { signal: "claim" });
    const call = (): Promise<Response> =>
      post("/rest/v1/rpc/handle_provisioning_callback", body, {
        ...headers,
        apikey: gateway.keys.anonKey,
        "content-type": "text/plain",
      });
    const first = await call();
    expect([first.status, await first.json()]).toMatchObject([200, { go_on: true }]);
    expect((await call()).status).toBe(409);
  });

  test("a callback with a valid signature and bad content has its own status, is recorded, and moves nothing", async () => {
    const job = await p.confirmed();
    const once = await p.signed(job, { signal: "claim" });
    await post("/webhooks/provisioning", once.body, once.headers);
    const version = (await p.job(job.request_id)).version;
    const replayed = await post("/webhooks/provisioning", once.body, once.headers);
    expect([replayed.status, await replayed.json()]).toMatchObject([409, { code: "already_used", go_on: false }]);
    expect(await report({ ...job, id: randomUUID() }, { signal: "claim" })).toMatchObject({
      status: 404,
      answer: { code: "not_found", message: expect.any(String), hint: "Nothing was changed." },
    });
    expect(await report(job, { signal: "claim", region: "us-east-1" })).toMatchObject({
      status: 400,
      answer: { details: "invalid_input: region: no such field" },
    });
    expect(await report(job, { signal: "claim", run_id: 1_000_000_000_000_000 })).toMatchObject({ status: 400 });
    expect(await report(job, { signal: "claim", attempt: 9 })).toMatchObject({ status: 404 });
    expect((await p.job(job.request_id)).version).toBe(version);
    const refused = await rowsOf(p.superuser, "select refusal from provisioning.callbacks where outcome = 'refused'");
    expect(refused).toHaveLength(4);
  });

  test.each<[string, SendOptions, number, string]>([
    ["under another secret", { secret: "another secret of thirty-two bytes and more" }, 401, "bad_signature"],
    ["six minutes ago", { late: 360 }, 401, "bad_signature"],
    ["six minutes ahead", { late: -360 }, 401, "bad_signature"],
    ["with half a signature", { signature: "v1=00" }, 401, "bad_signature"],
    ["over what is no JSON", { body: "claim" }, 400, "invalid_input"],
    ["over more than sixteen KiB", { body: `{"id":"${"x".repeat(16_384)}"}` }, 413, "body_too_large"],
  ])("a callback that was signed %s is refused, and nothing is written", async (_what, options, status, code) => {
    const job = await p.confirmed();
    const before = await written();
    expect(await report(job, { signal: "claim" }, options)).toMatchObject({ status, answer: { code } });
    expect(await written()).toEqual(before);
  });

  test("only this address needs the secret, and an unreadable one is not the run's fault", async () => {
    const job = await p.confirmed();
    const { body, headers } = await p.signed(job, { signal: "claim" });
    await using other = await startTestGateway(p.db, {
      database: { secretKey: "another key of thirty-two bytes and more" },
    });
    const response = await post("/webhooks/provisioning", body, headers, other.url);
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain("HEADROOM_SECRET_KEY");
  });

  test("an address may send so many, whatever names it invents", async () => {
    await using limited = await startTestGateway(p.db, { database: { secretKey }, dependencies: { now: () => 0 } });
    const send = (workspace: string): Promise<Response> =>
      limited.app.fetch(
        new Request("http://x/webhooks/provisioning", { method: "POST", body: JSON.stringify({ workspace }) }),
      );
    for (let turn = 0; turn < 600; turn += 1) expect((await send(`w${turn}`)).status).toBe(401);
    const refused = await send("acme");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
  });
});

const ended = (title: string, fullName = "acme/infrastructure"): string =>
  JSON.stringify({
    action: "completed",
    workflow_run: { id: 7, display_title: title, status: "completed", conclusion: "failure" },
    repository: { full_name: fullName },
  });

describe("/webhooks/github", () => {
  const secret = "g".repeat(40);
  beforeAll(async () => {
    const control = await p.db.as("headroom_control").connect();
    await setSecret(control, { name: "GITHUB_WEBHOOK_SECRET", value: secret, key: secretKey });
    await control.end();
  });

  function tell(body: string, event = "workflow_run"): Promise<Response> {
    return post("/webhooks/github", body, {
      "x-github-delivery": randomUUID(),
      "x-github-event": event,
      "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(body).digest("hex")}`,
    });
  }

  test("the sweep asks GitHub, once, about a run of ours that ended", async () => {
    const job = await p.confirmed();
    const body = ended(`Provision ${job.id}/1`);
    expect(await (await tell(body)).json()).toEqual({ received: true, new: true });
    expect(await (await tell(body)).json()).toEqual({ received: true, new: false });
    expect((await p.calls(job)).map(({ payload }) => payload["operation"] ?? "dispatch")).toEqual([
      "dispatch",
      "watch",
    ]);
    expect(await p.job(job.request_id)).toMatchObject({ state: "queued" });
  });

  test("a run that is not ours is counted and answered", async () => {
    const job = await p.confirmed();
    for (const response of [
      await tell(ended("CI")),
      await tell(ended(`Provision ${job.id}/1`, "globex/infrastructure")),
      await tell(JSON.stringify({ zen: "Keep it logically awesome." }), "ping"),
    ]) {
      expect([response.status, await response.json()]).toEqual([200, { received: true, new: true }]);
    }
    expect(await p.calls(job)).toHaveLength(1);
  });
});

const as = (member: string, workspace?: string) =>
  createClient({ url: gateway.url, key: gateway.keys.anonKey, token: () => memberToken(member, workspace) });

test("the client shows members their jobs, and requests another attempt", async () => {
  const job = await p.confirmed();
  await p.says(job, { signal: "claim" });
  await p.says(job, { signal: "failed", error: "quota exceeded", failed_step: "Apply" });
  expect(await as("rita").getJob(job.request_id)).toMatchObject({
    outcome: "found",
    job: { id: job.id, state: "failed" },
  });
  expect(await as("glen", "globex").getJob(job.id)).toMatchObject({ outcome: "refused", code: "not_found" });
  expect(await as("rita").retryJob(job.id, "again", { expectedVersion: 1 })).toMatchObject({ code: "stale_version" });
  expect(await as("rita").retryJob(job.id, "The quota was raised.")).toMatchObject({
    outcome: "recorded",
    job: {
      state: "waiting",
      history: expect.arrayContaining([expect.objectContaining({ reason: "The quota was raised." })]),
    },
  });
});

afterAll(() => expect(gateway.log.filter((entry) => entry.level === "error")).toEqual([]));
