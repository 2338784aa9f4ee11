/** Live updates over real HTTP: who receives what, what happens after a disconnection, and the limits. */
import { describe, expect, test } from "vitest";
import { oneOf, startWorkflow } from "../../capacity/harness.ts";
import { memberToken, signToken, startTestGateway } from "../harness.ts";
import { listen, type Told } from "../event-reader.ts";

const workflow = await startWorkflow(18);
const { db } = workflow;
const live = { pollMs: 20, heartbeatMs: 50 };
const gateway = await startTestGateway(db, { dependencies: { live } });
const bounded = await startTestGateway(db, {
  dependencies: { live: { ...live, maxPerMember: 2, maxConnections: 3 } },
});
const brief = await startTestGateway(db, { dependencies: { live: { ...live, connectionLastsMs: 200 } } });

const hear = async (member: string, options: { lastEventId?: string; workspace?: string; url?: string } = {}) =>
  listen(`${options.url ?? gateway.url}/events`, {
    authorization: `Bearer ${await memberToken(member, options.workspace)}`,
    ...(options.lastEventId === undefined ? {} : { "last-event-id": options.lastEventId }),
  });

const authorization = async (member: string) => ({ authorization: `Bearer ${await memberToken(member)}` });

describe("a member who listens", () => {
  test("receives events of the requests that they may read, in order, and no others", async () => {
    const [rita, carl, glen] = [await hear("rita"), await hear("carl"), await hear("glen", { workspace: "globex" })];
    const { id } = await workflow.create({ requester: "rita" });
    const other = await workflow.create({ requester: "rob", owner: "carl", group: "infra-eu" });
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    await workflow.apply(id, "TECH_REVIEW_APPROVED", "tess");
    await workflow.apply(other.id, "COMMERCIAL_REJECTED", "carl", { payload: { reason: "no room" } });

    const told = (await rita.until((events) => events.at(-1)?.data["seq"] === 3)).filter(
      ({ data }) => data["capacity_request_id"] === id,
    );
    expect(told.map(({ data }) => [data["capacity_request_id"], data["seq"], data["event_type"]])).toEqual([
      [id, 1, "REQUEST_SUBMITTED"],
      [id, 2, "COMMERCIAL_APPROVED"],
      [id, 3, "TECH_REVIEW_APPROVED"],
    ]);
    const rejected = (await carl.until((events) => events.length >= 2)).at(-1)?.data;
    expect(rejected).toMatchObject({
      capacity_request_id: other.id,
      event_type: "COMMERCIAL_REJECTED",
      state_after: "REJECTED",
      payload: { reason: "no room" },
    });
    await glen.beats(2);
    expect(rita.events.filter(({ data }) => data["capacity_request_id"] === other.id)).toEqual([]);
    expect(glen.events).toEqual([]);
    expect(JSON.stringify(rita.events)).not.toContain("confirmation_token_id");
    await Promise.all([rita.close(), carl.close(), glen.close()]);
  });

  test("resumes where the connection broke, missing nothing", async () => {
    const before = await hear("rita");
    const { id } = await workflow.create({ requester: "rita" });
    await before.until((events) => events.some(({ data }) => data["capacity_request_id"] === id));
    await before.close();
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    const after = await hear("rita", { lastEventId: before.lastEventId });
    const told = await after.until((events) =>
      events.some(({ data }) => data["capacity_request_id"] === id && data["seq"] === 2),
    );
    expect(after.names[0]).toBe("ready");
    const known = new Set(before.events.map(({ data }) => data["id"]));
    expect(told.filter(({ data }) => !known.has(data["id"])).map(({ data }) => data["seq"])).toEqual([2]);
    await after.close();
  });

  test("receives an event whose transaction commits after newer ones", async () => {
    const rita = await hear("rita");
    const slow = await workflow.create({ requester: "rita" });
    const quick = await workflow.create({ requester: "rita" });
    const about = (events: readonly Told[]) =>
      events.filter(({ data }) => [slow.id, quick.id].includes(String(data["capacity_request_id"])));
    await rita.until((events) => about(events).length >= 2);
    const client = await db.superuser.connect();
    await client.query("begin");
    await workflow.apply(slow.id, "COMMERCIAL_APPROVED", "cora", { client });
    await workflow.apply(quick.id, "COMMERCIAL_APPROVED", "cora");
    const later = await workflow.create({ requester: "rita" });
    await rita.until((events) => events.some(({ data }) => data["capacity_request_id"] === later.id));
    await rita.beats(3);
    await client.query("commit");
    await client.end();
    const told = about(await rita.until((events) => about(events).length >= 4));
    expect(told.at(-1)?.data).toMatchObject({ capacity_request_id: slow.id, event_type: "COMMERCIAL_APPROVED" });
    expect(new Set(told.map(({ data }) => data["id"])).size).toBe(told.length);
    await rita.close();
  });

  test("who is an admin receives all of the workspace, many events in pages", async () => {
    const ada = await hear("ada");
    const ids: string[] = [];
    const client = await db.superuser.connect();
    await client.query("begin");
    for (let count = 0; count < 600; count += 1) ids.push((await workflow.create({}, client)).id);
    await client.query("commit");
    await client.end();
    const told = await ada.until((events) => events.at(-1)?.data["capacity_request_id"] === ids.at(-1));
    const heard = new Set(told.map(({ data }) => data["capacity_request_id"]));
    expect(ids.filter((id) => !heard.has(id))).toEqual([]);
    expect(new Set(told.map(({ data }) => data["id"])).size).toBe(told.length);
    await ada.close();
  });
});

describe("the connection", () => {
  test("says that it is ready, is kept alive while nothing happens, and cannot be buffered by a proxy", async () => {
    const rita = await hear("rita");
    expect(rita.response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    expect(rita.response.headers.get("x-accel-buffering")).toBe("no");
    await rita.beats(2);
    expect(rita.names).toEqual(["ready"]);
    expect(rita.lastEventId).toMatch(/^\d{16}$/);
    await rita.close();
  });

  test("starts over, and says so, when what it missed is too long ago", async () => {
    const { first } = await oneOf<{ first: string }>(
      db.superuser.pool,
      "select id as first from capacity.events where actor_id = 'rita' order by created_at limit 1",
    );
    const rita = await hear("rita", { lastEventId: "1" });
    await rita.beats(1);
    expect(rita.names[0]).toBe("reset");
    // What was just written may still be delivered while transactions elsewhere are open; what was missed may not.
    expect(rita.events.map(({ data }) => data["id"])).not.toContain(first);
    await rita.close();
  });

  test("ends after a while, so that the listener must prove their identity again", async () => {
    const rita = await hear("rita", { url: brief.url });
    await rita.ended;
    expect(rita.names).toEqual(["ready"]);
  });

  test("is refused to anonymous callers, to a service, and for a position that is not ours", async () => {
    const service = { authorization: `Bearer ${gateway.keys.serviceKey}` };
    const strange = { authorization: `Bearer ${await memberToken("rita")}`, "last-event-id": "yesterday" };
    const gone = { authorization: `Bearer ${await memberToken("gus")}` };
    for (const [headers, status] of [
      [{}, 401],
      [service, 401],
      [gone, 401],
      [strange, 400],
    ] as const) {
      const response = await fetch(`${gateway.url}/events`, { headers });
      expect(response.status).toBe(status);
      expect(response.headers.get("content-type")).toBe("application/problem+json");
    }
  });

  test("is limited per member and in total, and a place that was left is free", async () => {
    const url = bounded.url;
    const first = await hear("rita", { url });
    const second = await hear("rita", { url });
    expect((await fetch(`${url}/events`, { headers: await authorization("rita") })).status).toBe(429);
    const third = await hear("rob", { url });
    expect((await fetch(`${url}/events`, { headers: await authorization("tess") })).status).toBe(429);
    await first.close();
    const again = await hear("tess", { url, lastEventId: second.lastEventId });
    await Promise.all([second.close(), third.close(), again.close()]);
  });

  test("is limited for simultaneous callers too, and a refused one holds no place", async () => {
    await using own = await startTestGateway(db, { dependencies: { live: { ...live, maxPerMember: 2 } } });
    const stop = new AbortController();
    const open = async (member: string) =>
      fetch(`${own.url}/events`, { headers: await authorization(member), signal: stop.signal });
    const together = await Promise.all(Array.from({ length: 8 }, () => open("rita")));
    expect(together.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([
      200, 200, 429, 429, 429, 429, 429, 429,
    ]);
    for (let turn = 0; turn < 4; turn += 1) expect((await open("gus")).status).toBe(401);
    stop.abort();
  });

  test("is limited per workspace, so that none takes all places", async () => {
    await using own = await startTestGateway(db, { dependencies: { live: { ...live, maxPerWorkspace: 2 } } });
    const { url } = own;
    const [first, second] = [await hear("rita", { url }), await hear("rob", { url })];
    expect((await fetch(`${url}/events`, { headers: await authorization("tess") })).status).toBe(429);
    const other = await hear("glen", { url, workspace: "globex" });
    await first.close();
    const again = await hear("tess", { url });
    await Promise.all([second.close(), other.close(), again.close()]);
  });

  test("is not opened by HEAD, which is answered like GET", async () => {
    for (let turn = 0; turn < 4; turn += 1) {
      const head = await fetch(`${bounded.url}/events`, { method: "HEAD", headers: await authorization("rita") });
      expect(head.status).toBe(200);
      expect(head.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    }
    const rita = await hear("rita", { url: bounded.url });
    await rita.close();
  });

  test("ends with the token that opened it", async () => {
    const exp = 4_000_000_000;
    // The verifier tolerates 30 s of difference between clocks, and so does the stream.
    await using late = await startTestGateway(db, { dependencies: { live, now: () => (exp + 30) * 1000 - 200 } });
    const claims = { role: "authenticated", app_metadata: { workspace_id: "acme", member_id: "rita" } };
    const rita = await listen(`${late.url}/events`, { authorization: `Bearer ${await signToken({ ...claims, exp })}` });
    await rita.ended;
    expect(rita.names).toEqual(["ready"]);
  });

  test("ends for a revoked key although there is nothing to send", async () => {
    await using own = await startTestGateway(db, { dependencies: { live: { ...live, recheckMs: 50 } } });
    const claims = { role: "authenticated", app_metadata: { workspace_id: "acme", member_id: "rita" }, key_id: "lost" };
    const [rita, rob] = [
      await listen(`${own.url}/events`, { authorization: `Bearer ${await signToken(claims)}` }),
      await hear("rob", { url: own.url }),
    ];
    await db.as("headroom_control").pool.query("select directory.revoke_api_key('lost')");
    await rita.ended;
    await rob.beats(2);
    expect(rita.events).toEqual([]);
    await rob.close();
  });

  test("sends nothing to a removed member, nor to the next one with the id, and ends", async () => {
    await using own = await startTestGateway(db, { dependencies: { live: { ...live, recheckMs: 400 } } });
    const control = db.as("headroom_control").pool;
    const auditor = '{"roles": ["auditor"]}';
    await control.query("select directory.put_member('acme', 'aude', $1)", [auditor]);
    const [aude, rita] = [await hear("aude", { url: own.url }), await hear("rita", { url: own.url })];
    const first = await workflow.create({ requester: "rita" });
    await aude.until((events) => events.some(({ data }) => data["capacity_request_id"] === first.id));
    await control.query("select directory.remove_member('acme', 'aude')");
    const second = await workflow.create({ requester: "rita" });
    await control.query("select directory.put_member('acme', 'aude', $1::jsonb || '{\"active\": true}')", [auditor]);
    const third = await workflow.create({ requester: "rita" });
    await rita.until((events) => events.some(({ data }) => data["capacity_request_id"] === third.id));
    await aude.ended;
    const told = aude.events.map(({ data }) => data["capacity_request_id"]);
    expect(told).toContain(first.id);
    expect(told).not.toContain(second.id);
    expect(told).not.toContain(third.id);
    await rita.close();
  });

  test("ends for a revoked key as soon as there is something to send", async () => {
    const claims = {
      role: "authenticated",
      app_metadata: { workspace_id: "acme", member_id: "rita" },
      key_id: "leaked",
    };
    const rita = await listen(`${gateway.url}/events`, {
      authorization: `Bearer ${await signToken({ ...claims, exp: 4_102_444_800 })}`,
    });
    await db.as("headroom_control").pool.query("select directory.revoke_api_key('leaked')");
    const { id } = await workflow.create({ requester: "rita" });
    await rita.ended;
    expect(rita.events.filter(({ data }) => data["capacity_request_id"] === id)).toEqual([]);
  });
});

test("a stopping server ends its streams, and stops within its bound", async () => {
  const own = await startTestGateway(db, { dependencies: { live } });
  const rita = await hear("rita", { url: own.url });
  const stopped = own.stop();
  await rita.ended;
  await stopped;
});
