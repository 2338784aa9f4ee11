/** The relay behind a server's route, with the rails that only it uses. */
import { expect, test } from "vitest";
import { createOnDemandRelay } from "../../../../src/cli/relay/on-demand.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { probeRail } from "../../outbox/relay/rails.ts";

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
