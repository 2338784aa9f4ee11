/** The relay behind a server's route, with the rails that only it uses. */
import { expect, test } from "vitest";
import { createOnDemandRelay } from "../../../../src/cli/relay/on-demand.ts";
import { createStream, enqueueMany } from "../../../../src/outbox/index.ts";
import { registerRails } from "../../../../src/outbox/operate/register-rails.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { probeRail } from "../../outbox/relay/rails.ts";
import { until } from "../../outbox/relay/stage.ts";
import { headroom } from "../harness.ts";

const db = await createTestDatabase();

test("closes its rails when it ends, after the last call", async () => {
  const calls: string[] = [];
  const closing = { close: () => void calls.push("closed") };
  const rail = { ...probeRail(), ...closing };
  const relay = createOnDemandRelay(db.as("headroom_executor").url, [rail, probeRail({ name: "plain" })], () => {});
  const turn = relay.drain().then(() => calls.push("turn ended"));
  await relay.close();
  await turn;
  expect(calls).toEqual(["turn ended", "closed"]);
});

test("what a turn left for later is delivered when it falls due, without another call", async () => {
  const rail = probeRail();
  const control = db.as("headroom_control").pool;
  await createStream(control, "later");
  await registerRails(control, [rail]);
  await control.query("select outbox.limit_destination('one at a time', 6000)");
  const row = { stream: "later", rail: rail.name, payload: {}, destination: "one at a time", idempotencyKey: "x" };
  const rows = ["a", "b"].map((key) => ({ ...row, key, instructionId: key }));
  await enqueueMany(db.as("headroom_ingest").pool, rows);
  const relay = createOnDemandRelay(db.as("headroom_executor").url, [rail], () => {}, { streams: ["later"] });
  try {
    // The automatic turns are an hour apart.
    relay.keepTurning(3_600_000);
    expect(await relay.drain({ budgetMs: 5_000 })).toMatchObject({ delivered: 1, more: true });
    await until(
      () => rail.sent.length,
      (count) => count === 2,
      "the rest",
    );
  } finally {
    await relay.close();
  }
});

test("a turn is counted as a relay: status says when the last one ran", async () => {
  const relay = createOnDemandRelay(db.as("headroom_executor").url, [probeRail()], () => {}, { streams: ["later"] });
  await relay.drain();
  await relay.drain();
  await relay.close();
  const { out } = await headroom(["outbox", "status"], { env: { DATABASE_URL: db.as("headroom_control").url } });
  expect(out).toMatch(/No relay process is running\. A relay on demand delivers: its last turn was [^.]+ ago\./);
  // Each turn replaces the previous one.
  expect(out.match(/on demand .* turn ended/g)).toHaveLength(1);
});
