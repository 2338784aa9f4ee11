/** Verification raises no false alarm on a working system: each batch reads one snapshot. */
import { expect, test } from "vitest";
import { applyEvent, createRequest, verify } from "../../../../src/capacity/index.ts";
import { putGroup, putMember, putWorkspace } from "../../../../src/directory/index.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { Engine, oneOf } from "../../outbox/harness.ts";

const db = await createTestDatabase();
const control = db.as("headroom_control").pool;
const writers = 4;
const requestsPerWriter = 15;

async function directory(): Promise<void> {
  await putWorkspace(control, "default", { slackChannelId: "C024BE91L", linearTeamId: "team" });
  await putMember(control, "default", "ann", { roles: ["requester"] });
  await putMember(control, "default", "olga", { roles: ["commercial"] });
  await putMember(control, "default", "tom", { roles: ["operator"] });
  await putGroup(control, "default", "infra", { add: ["tom"] });
}

/** One request through all its states, with its messages enqueued on the way. */
async function liveOneLife(): Promise<void> {
  const created = await createRequest(control, {
    requester: "ann",
    commercialOwner: "olga",
    infraGroup: "infra",
    size: "32XL",
    quantity: 1,
    region: "us-east-1",
  });
  if (created.outcome === "refused") throw new Error(created.message);
  const { id } = created.request;
  const approvals = await Promise.all([
    applyEvent(control, id, { type: "COMMERCIAL_APPROVED" }, { as: "olga" }),
    applyEvent(control, id, { type: "TECH_REVIEW_APPROVED" }, { as: "tom" }),
  ]);
  const confirmed = await applyEvent(control, id, { type: "CUSTOMER_CONFIRMED" }, { as: "olga" });
  const completed = await applyEvent(control, id, { type: "PROVISIONING_COMPLETE" }, { as: "tom" });
  expect([...approvals, confirmed, completed].map(({ outcome }) => outcome)).toEqual(Array(4).fill("recorded"));
}

/** Claims and delivers as a relay does, until it is stopped. */
async function deliver(until: { done: boolean }): Promise<void> {
  const engine = new Engine(db);
  await engine.start();
  const { id } = await oneOf<{ id: number }>(
    engine.control,
    "select stream_id as id from outbox.streams where name = 'capacity'",
  );
  const stream = { id, name: "capacity" };
  while (!until.done) await engine.deliver(stream, await engine.claim(stream, { maxRows: 50 }));
}

test("verifying alongside writers and a relay finds nothing, again and again", async () => {
  await directory();
  const auditor = await db.as("headroom_auditor").connect();
  const until = { done: false };
  const write = async (): Promise<void> => {
    try {
      const lives = Array.from({ length: writers }, async () => {
        for (let n = 0; n < requestsPerWriter; n += 1) await liveOneLife();
      });
      await Promise.all(lives);
    } finally {
      until.done = true;
    }
  };
  const lookOn = async (): Promise<void> => {
    do {
      for await (const batch of verify(auditor, { requestsPerBatch: 10, rowsPerBatch: 50 })) {
        expect(batch.findings).toEqual([]);
      }
    } while (!until.done);
  };
  await Promise.all([write(), deliver(until), lookOn()]);
  let checked = 0;
  for await (const batch of verify(auditor)) {
    expect(batch.findings).toEqual([]);
    checked += batch.counts.requests ?? 0;
  }
  expect(checked).toBe(writers * requestsPerWriter);
});
