/**
 * A message that carries several notifications waits too long for one of them: that one is dropped, and the others are sent in a new
 * message.
 */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { oneOf, rowsOf } from "../capacity/harness.ts";
import { startChannels } from "./channels.ts";

const stage = await startChannels("smtp");
const db = stage.workflow.superuser;

test("what is left of a message whose earliest part expired in the outbox is sent in a new message, once", async () => {
  const about = randomUUID();
  const late = await stage.tell({ about, title: "Worth nothing later" });
  const lasting = await stage.tell({ about, title: "Still worth telling" });
  // One transaction, so that no relay sees the message before it waits.
  const client = await stage.workflow.db.superuser.connect();
  await client.query("begin");
  await client.query("update notify.parts set due_at = clock_timestamp() where state = 'held'");
  await client.query("select * from notify.release()");
  await client.query("update notify.parts set expires_at = now() where notification_id = $1", [late]);
  await client.query("update notify.notifications set expires_at = now() where id = $1", [late]);
  await client.query("update outbox.pending_unordered set expires_at = now()");
  await client.query("update outbox.payloads set expires_at = now()");
  await client.query("commit");
  await client.end();
  const ended = "select count(*)::integer as n from notify.endings";
  await expect.poll(() => oneOf(db, ended), { timeout: 10_000 }).toEqual({ n: 1 });
  expect(stage.sandbox.mail.list()).toEqual([]);

  await rowsOf(db, "select * from notify.release()");
  expect(await stage.stageOf(late)).toBe("expired");
  await stage.reaches(lasting, "sent");
  expect(stage.sandbox.mail.list().map(({ subject }) => subject)).toEqual(["Still worth telling"]);
  expect(await oneOf(db, ended)).toEqual({ n: 0 });
});
