/** `headroom/client` against the real server: every call, refusals as values, and live updates. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { createClient } from "../../../../src/client/index.ts";
import { memberToken, startTestGateway } from "../harness.ts";
import { startOffers } from "../offers.ts";

const { workflow, offer } = await startOffers();
const gateway = await startTestGateway(workflow.db, { dependencies: { live: { pollMs: 20 } } });
const as = (member: string) =>
  createClient({ url: `${gateway.url}/`, key: gateway.keys.anonKey, token: () => memberToken(member) });
const service = createClient({ url: gateway.url, key: gateway.keys.serviceKey });
const terms = {
  requester: "rita",
  commercialOwner: "cora",
  infraGroup: "infra",
  size: "32XL",
  quantity: 2,
  region: "eu-1",
};

describe("the client", () => {
  test("previews, creates, reads, lists, notes and nudges as a member", async () => {
    const rita = as("rita");
    const justification = "We grow.";
    expect(await rita.preview({ ...terms, justification })).toMatchObject({
      outcome: "previewed",
      preview: { state: "UNDER_REVIEW", justification },
    });
    const created = await rita.create({
      ...terms,
      justification,
      customerRef: { name: "Initech" },
      idempotencyKey: "one",
    });
    if (created.outcome !== "created") throw new Error(created.message);
    expect(
      await rita.create({ ...terms, justification, customerRef: { name: "Initech" }, idempotencyKey: "one" }),
    ).toEqual(created);
    const { id } = created.request;
    expect(await rita.get(id)).toMatchObject({
      outcome: "found",
      story: { request: { id, customerRef: { name: "Initech" }, justification } },
    });
    expect((await rita.list({ states: ["UNDER_REVIEW"], requester: "rita", limit: 5 })).map((row) => row.id)).toContain(
      id,
    );
    expect(await as("glen").list()).toEqual([]);
    expect(await rita.note(id, "please hurry")).toMatchObject({ outcome: "noted", requestId: id });
    expect(created.request.customerUnasked).toBe("no_address");
    expect(await rita.setAddress(id, "buyer@initech.example")).toMatchObject({ outcome: "kept", mailed: false });
    expect(await rita.sendLink(id)).toMatchObject({ outcome: "refused", code: "conflict" });
    expect((await rita.nudge(id)).outcome).toBe("nudged");
    expect(await rita.nudge(id)).toMatchObject({ outcome: "refused", code: "too_soon", httpStatus: 429 });
  });

  test("says which customer a request belongs to, and is refused an invalid id", async () => {
    const rita = as("rita");
    const created = await rita.create({ ...terms, customerId: "initech" });
    expect(created).toMatchObject({ outcome: "created", request: { customerId: "initech" } });
    const refused = { outcome: "refused", code: "invalid_input", httpStatus: 400 };
    expect(await rita.create({ ...terms, customerId: "" })).toMatchObject(refused);
    expect(await rita.preview({ ...terms, customerId: "" })).toMatchObject(refused);
  });

  test("decides once, says who decided at a repeat, and returns refusals as values", async () => {
    const { id } = await workflow.create({});
    expect(await as("rita").decide(id, { type: "COMMERCIAL_APPROVED" })).toMatchObject({
      outcome: "refused",
      code: "not_allowed",
    });
    expect(await as("cora").decide(id, { type: "COMMERCIAL_APPROVED" }, { expectedVersion: 9 })).toMatchObject({
      outcome: "refused",
      code: "stale_version",
      detail: "version 1, expected 9",
    });
    expect(await as("rita").verdicts([id], { actions: ["approve_commercial"] })).toMatchObject({
      outcome: "judged",
      verdicts: [{ requestId: id, action: "approve_commercial", allowed: false, others: [{ id: "cora" }] }],
    });
    expect(await as("rita").verdicts([])).toMatchObject({ outcome: "refused", code: "invalid_input" });
    expect(await service.decide(id, { type: "COMMERCIAL_APPROVED" }, { as: "cora" })).toMatchObject({
      outcome: "decided",
    });
    expect(await as("cora").decide(id, { type: "COMMERCIAL_APPROVED" })).toMatchObject({
      outcome: "repeated",
      decidedBy: "cora",
    });
  });

  test("shows and answers an offer by its link", async () => {
    const { token } = await offer();
    const customer = createClient({ url: gateway.url, key: gateway.keys.anonKey });
    expect(await customer.offer(token)).toMatchObject({ outcome: "shown", offer: { status: "open" } });
    expect(await customer.confirm(token, "confirm")).toMatchObject({
      outcome: "answered",
      offer: { status: "confirmed" },
    });
    expect(await customer.confirm(token, "decline")).toMatchObject({ outcome: "refused", code: "already_used" });
    expect(await customer.offer("nonsense")).toMatchObject({ outcome: "refused", code: "not_found" });
  });

  test("throws errors that are not refusals of the workflow", async () => {
    const stranger = createClient({ url: gateway.url, key: "not-a-key" });
    await expect(stranger.list()).rejects.toMatchObject({ httpStatus: 401 });
  });

  test("receives live events, each once, until it is stopped", async () => {
    const stop = new AbortController();
    const ready = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<void>();
    const seen: string[] = [];
    let wanted = "";
    const listening = as("rita").subscribe(
      (event) => {
        seen.push(event.id);
        if (event.capacity_request_id === wanted && event.seq === 1) heard.resolve();
      },
      { signal: stop.signal, onReady: () => ready.resolve() },
    );
    await ready.promise;
    const client = await workflow.db.superuser.connect();
    await client.query("begin");
    wanted = (await workflow.create({ requester: "rita" }, client)).id;
    await client.query("commit");
    await client.end();
    await heard.promise;
    stop.abort();
    await listening;
    expect(new Set(seen).size).toBe(seen.length);
    await expect(service.subscribe(() => undefined, { signal: AbortSignal.timeout(5_000) })).rejects.toMatchObject({
      code: "not_signed_in",
    });
  });
});

test("nothing that the client imports needs Node", () => {
  const root = new URL("../../../../src/client/index.ts", import.meta.url);
  const seen = new Set<string>();
  const foreign = new Set<string>();
  const walk = (file: URL): void => {
    if (seen.has(file.href)) return;
    seen.add(file.href);
    for (const [, target = ""] of readFileSync(fileURLToPath(file), "utf8").matchAll(
      /^(?:import|export) (?!type\b)[^;]*?from "([^"]+)";/gms,
    )) {
      if (target.startsWith(".")) walk(new URL(target, file));
      else foreign.add(target);
    }
  };
  walk(root);
  expect(seen.size).toBeGreaterThan(4);
  expect([...foreign]).toEqual(["zod"]);
});
