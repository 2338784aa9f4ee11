/**
 * Answers to Slack that come late or fail: what they claim, and that they arrive although the server stops.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { ClientBase } from "pg";
import { afterAll, expect, test } from "vitest";
import { rowsOf } from "../../capacity/harness.ts";
import {
  clickBody,
  commandBody,
  secretKey,
  sign,
  type Signed,
  startSlack,
  submissionBody,
  typed,
} from "../../inbound/slack/slack.ts";
import { startTestGateway } from "../harness.ts";

const slack = await startSlack(18);
const { workflow } = slack;

/** Receives late answers; each is acknowledged when the test says so. */
const arrivals: { text?: string }[] = [];
let answering: Promise<void> = Promise.resolve();
const hook = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    arrivals.push(JSON.parse(Buffer.concat(pieces).toString()) as { text?: string });
    void answering.then(() => response.end("ok"));
  });
}).listen(0, "127.0.0.1");
await once(hook, "listening");
const hookUrl = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hooks/`;
afterAll(() => hook.close());

const hasty = { acknowledgeMs: 0, slackResponseUrls: [hookUrl] };

/** Checks repeatedly until it holds, or for ten seconds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds()) && performance.now() < deadline) await delay(10);
}

const post = (url: string, { body, headers }: Signed): Promise<Response> =>
  fetch(`${url}/webhooks/slack`, {
    method: "POST",
    body,
    headers: { ...headers, "content-type": "application/x-www-form-urlencoded" },
  });

/** Runs the work while another transaction holds the request, whose lock every decision waits for. */
async function whileHeld(id: string, work: (holder: ClientBase) => Promise<void>): Promise<void> {
  const holder = await workflow.db.superuser.connect();
  await holder.query("begin");
  await holder.query("select from capacity.requests where id = $1 for update", [id]);
  try {
    await work(holder);
  } finally {
    await holder.end();
  }
}

/** Ends the connections of gateways that wait for a lock, as an administrator or a failing network would. */
async function cutWaiting(): Promise<void> {
  await until(async () => {
    const cut = await rowsOf(
      workflow.superuser,
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'headroom gateway' and wait_event_type = 'Lock'`,
    );
    return cut.length > 0;
  });
}

const approve = (id: string): Signed =>
  sign(commandBody(`approve ${id}`, "U0TESS", { response_url: `${hookUrl}${id}` }));

test("where the connection is lost, nobody is told that nothing was changed", async () => {
  await using gateway = await startTestGateway(workflow.db, { database: { secretKey } });
  const id = await workflow.createIn("UNDER_REVIEW");
  await whileHeld(id, async () => {
    const typedIn = post(gateway.url, approve(id));
    await cutWaiting();
    expect(await (await typedIn).json()).toMatchObject({
      text: expect.stringMatching(/It may have been done; `\/capacity list` shows it\.$/),
    });
    const clicked = post(gateway.url, sign(clickBody("tech_approve", id, "U0TESS")));
    await cutWaiting();
    expect(await (await clicked).json()).toMatchObject({
      status: 503,
      title: expect.stringContaining("may have been changed"),
    });
  });
});

test("where the database refused, whoever asked is told that nothing was changed", async () => {
  await using gateway = await startTestGateway(workflow.db, { database: { secretKey, statementTimeoutMs: 500 } });
  const id = await workflow.createIn("UNDER_REVIEW");
  await whileHeld(id, async () => {
    expect(await (await post(gateway.url, approve(id))).json()).toMatchObject({
      text: expect.stringContaining("Nothing was changed; try again"),
    });
    expect(await (await post(gateway.url, sign(clickBody("tech_approve", id, "U0TESS")))).json()).toMatchObject({
      status: 503,
      title: expect.stringContaining("Nothing was changed."),
    });
  });
  expect((await workflow.row(id)).version).toBe(1);
});

test("a form that takes long does not close as if it had been accepted", async () => {
  await using gateway = await startTestGateway(workflow.db, {
    database: { secretKey },
    dependencies: { webhooks: hasty },
  });
  const body = submissionBody("capacity_intake", { size: typed("!") }, {}, "U0RITA");
  const answer = await post(gateway.url, sign(body));
  expect(await answer.json()).toMatchObject({
    response_action: "update",
    view: { type: "modal", title: { text: "Still working on it" } },
  });
});

test("a server that stops waits for its outstanding late answers", async () => {
  const gateway = await startTestGateway(workflow.db, {
    database: { secretKey },
    dependencies: { webhooks: hasty },
    server: { drainMs: 20_000 },
  });
  const id = await workflow.createIn("UNDER_REVIEW");
  const { promise, resolve: release } = Promise.withResolvers<void>();
  answering = promise;
  let ended = false;
  let stopping: Promise<void> | undefined;
  await whileHeld(id, async () => {
    expect((await post(gateway.url, approve(id))).status).toBe(200);
    stopping = gateway.stop().then(() => void (ended = true));
  });
  await until(() => arrivals.length > 0);
  expect(arrivals).toMatchObject([{ text: expect.stringContaining(id) }]);
  expect(ended).toBe(false);
  release();
  await stopping;
  expect(gateway.log).toContainEqual(expect.objectContaining({ event: "slack_answered_late", status: 200 }));
});
