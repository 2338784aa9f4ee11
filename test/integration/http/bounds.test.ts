/**
 * What one caller may use of the server: columns by their names and nothing else, answers of a limited size, and limited memory for reading
 * and sending. A caller who takes more is refused or cut off, and others are not affected.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { startWorkflow } from "../capacity/harness.ts";
import { memberToken, startTestGateway, storeWebhookSecrets, type TestGateway } from "./harness.ts";

const workflow = await startWorkflow(18);
const gateway = await startTestGateway(workflow.db, { dependencies: { trustedProxies: 1 } });
const impatient = await startTestGateway(workflow.db, { server: { answerTimeoutMs: 20 } });

beforeAll(async () => {
  await storeWebhookSecrets(workflow.db);
  for (let count = 0; count < 3; count += 1) await workflow.create();
  await workflow.superuser.query(`
    create view public.large as select n, repeat('x', 7000) as filler from generate_series(1, 1000) n;
    create view public.huge as select n, repeat('x', 10000) as filler from generate_series(1, 1000) n;
    create function public.huge_text() returns text language sql stable as $$ select repeat('x', 9000000) $$;
    create function public.pairs() returns table (left_part integer, right_part text) language sql stable as $$ select 1, 'a' $$;
    grant select on public.large, public.huge to authenticated`);
});

const headersOf = async (member: string): Promise<Record<string, string>> => ({
  apikey: gateway.keys.anonKey,
  authorization: `Bearer ${await memberToken(member)}`,
});

async function ask(path: string, { url }: TestGateway = gateway, member = "rita") {
  const answer = await fetch(`${url}/rest/v1/${path}`, { headers: await headersOf(member) });
  const text = await answer.text();
  return { status: answer.status, text, body: JSON.parse(text) as { code?: string; message?: string } };
}

/** Checks repeatedly until it holds, and fails after ten seconds. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (!(await holds())) if (performance.now() > deadline) throw new Error("It never happened.");
}

describe("a name in a query", () => {
  const ofRow = ["json_agg", "count", "to_jsonb", "row_to_json", "pg_typeof", "jsonb_agg", "text", "ctid", "tableoid"];

  test.each(ofRow)("is never a call of the function %s", async (name) => {
    for (const query of [
      `select=${name}`,
      `select=id,a:${name}`,
      `select=${name}->x`,
      `order=${name}`,
      `${name}=not.is.null`,
      `or=(id.eq.x,not.and(${name}.gt.0))`,
    ]) {
      const answer = await ask(`capacity_requests?${query}`);
      expect({ query, status: answer.status, code: answer.body.code }).toEqual({ query, status: 400, code: "42703" });
      expect(answer.body.message).toBe(`column capacity_requests.${name} does not exist`);
    }
    for (const call of ["rpc/list_inbox", "rpc/pairs"]) {
      expect((await ask(`${call}?select=${name}`)).body).toMatchObject({ code: "42703" });
    }
  });

  test("is a column of the result, even of a function's, and even a new one", async () => {
    expect(await ask("rpc/pairs?select=b:right_part&order=left_part")).toMatchObject({
      status: 200,
      text: '[{"b":"a"}]',
    });
    expect((await ask("rpc/list_inbox?select=id&limit=1")).status).toBe(200);
    await using fresh = await startTestGateway(workflow.db);
    expect((await ask("large?select=n&limit=1", fresh)).status).toBe(200);
  });
});

describe("an answer", () => {
  test("has each column once", async () => {
    const many = Array.from({ length: 200 }, (_, n) => `a${n}:customer_ref`).join(",");
    expect(await ask(`capacity_requests?select=${many}`)).toMatchObject({ status: 400, body: { code: "42701" } });
  });

  test("is refused when it is too large, from a view or from a function", async () => {
    for (const path of ["huge", "rpc/huge_text", "rpc/huge_text?select=x"]) {
      const answer = await ask(path);
      expect([path, answer.status, answer.body.code, answer.text.length < 1_000]).toEqual([path, 400, "54000", true]);
    }
    expect((await ask("huge?limit=10")).text.length).toBeGreaterThan(100_000);
  });
});

test("a regular expression that takes more time than its text's length is refused", async () => {
  const expensive = ["(.*)(.*)(.*)\\1\\2\\3z", "((a*)*)*b", "(?=.*a)b", "a{1,200}"];
  for (const operator of ["match", "imatch"]) {
    for (const expression of expensive) {
      const answer = await ask(`capacity_requests?id=${operator}.${encodeURIComponent(expression)}`);
      expect([expression, answer.status, answer.body.code]).toEqual([expression, 400, "2201B"]);
    }
    expect(
      (await ask(`capacity_requests?select=id&id=${operator}.${encodeURIComponent("^CR-\\d{4}-")}`)).text,
    ).toContain("CR-");
  }
});

/** Sends requests and reads nothing; resolves when the first bytes of an answer have arrived. */
async function askAndIgnore({ url }: TestGateway, requests: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(requests);
  await once(socket, "readable");
  return socket;
}

async function requestOf(path: string, member = "rita"): Promise<string> {
  const headers = Object.entries(await headersOf(member)).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET /rest/v1/${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${headers.join("")}\r\n`;
}

describe("a caller who does not read", () => {
  test("gets no more once too much is buffered for them alone", async () => {
    const sockets: Socket[] = [];
    for (let count = 0; count < 3; count += 1) sockets.push(await askAndIgnore(gateway, await requestOf("large")));
    expect(await ask("capacity_requests?select=id")).toMatchObject({ status: 429, body: { code: "rate_limited" } });
    expect((await ask("capacity_requests?select=id", gateway, "rob")).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await until(async () => (await ask("capacity_requests?select=id")).status === 200);
  });

  test("has one request per connection worked on at a time", async () => {
    const before = gateway.log.length;
    const socket = await askAndIgnore(gateway, (await requestOf("large", "rob")).repeat(30));
    for (let count = 0; count < 20; count += 1) expect((await ask("capacity_requests?select=id")).status).toBe(200);
    expect(gateway.log.length - before).toBe(21);
    socket.destroy();
  });

  test("has few requests worked on at a time, and others are not affected", async () => {
    await using narrow = await startTestGateway(workflow.db, { dependencies: { inProgress: { maxOfNamed: 2 } } });
    const sockets = [await askAndIgnore(narrow, await requestOf("large"))];
    sockets.push(await askAndIgnore(narrow, await requestOf("large")));
    const third = ask("capacity_requests?select=id", narrow);
    for (let count = 0; count < 5; count += 1) {
      expect((await ask("capacity_requests?select=id", narrow, "rob")).status).toBe(200);
    }
    expect(await Promise.race([third, Promise.resolve("waits")])).toBe("waits");
    for (const socket of sockets) socket.destroy();
    expect((await third).status).toBe(200);
  });

  test("is cut off", async () => {
    const sockets: Socket[] = [];
    // More than a kernel buffers for a client that does not read.
    const requests = (await requestOf("large")).repeat(8);
    for (let count = 0; count < 3; count += 1) sockets.push(await askAndIgnore(impatient, requests));
    // A client that does not read finds out when it writes.
    await until(async () => {
      for (const socket of sockets) socket.write("\r\n");
      await ask("capacity_requests?select=id", impatient, "rob");
      return sockets.every(({ closed }) => closed);
    });
    expect((await ask("capacity_requests?select=id", impatient)).status).toBe(200);
  });
});

async function sendForm(address: string): Promise<number> {
  const init = { method: "POST", body: "text=", headers: { "x-forwarded-for": address } };
  return (await fetch(`${gateway.url}/webhooks/slack`, init)).status;
}

test("unfinished bodies of one caller are buffered up to a bound, and others can still send theirs", async () => {
  // Unsigned, as only the whole body will show.
  const head = [
    "POST /webhooks/slack HTTP/1.1",
    "host: 127.0.0.1",
    "x-forwarded-for: 192.0.2.1",
    `x-slack-request-timestamp: ${Math.floor(Date.now() / 1_000)}`,
    `x-slack-signature: v0=${"0".repeat(64)}`,
    "content-length: 1048576\r\n\r\n",
  ].join("\r\n");
  const sockets = Array.from({ length: 16 }, () => connect(Number(new URL(gateway.url).port), "127.0.0.1"));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (const socket of sockets) socket.on("error", () => undefined).write(`${head}text=`);
  await until(async () => (await sendForm("192.0.2.1")) === 429);
  expect(await sendForm("192.0.2.2")).toBe(401);
  for (const socket of sockets) socket.destroy();
  await until(async () => (await sendForm("192.0.2.1")) === 401);
});

test("unfinished bodies keep nobody else in the network from being answered", async () => {
  const inProgress = { maxOfNetwork: 2 };
  await using narrow = await startTestGateway(workflow.db, { dependencies: { inProgress } });
  const head = [
    "POST /webhooks/slack HTTP/1.1",
    "host: 127.0.0.1",
    `x-slack-request-timestamp: ${Math.floor(Date.now() / 1_000)}`,
    `x-slack-signature: v0=${"0".repeat(64)}`,
    "content-length: 10\r\n\r\n",
  ].join("\r\n");
  const sockets = Array.from({ length: 4 }, () => connect(Number(new URL(narrow.url).port), "127.0.0.1"));
  await Promise.all(sockets.map((socket) => once(socket, "connect")));
  for (const socket of sockets) socket.on("error", () => undefined).write(`${head}text=`);
  for (let count = 0; count < 20; count += 1) {
    const answer = await fetch(`${narrow.url}/confirm/none`, { signal: AbortSignal.timeout(5_000) });
    expect(answer.status).toBe(404);
  }
  for (const socket of sockets) socket.destroy();
});
