/** What messages about requests keep of a removed member. */
import { expect, test } from "vitest";
import { oneOf, rowsOf } from "../harness.ts";
import { startErasing } from "./erasing.ts";

const erasing = await startErasing(18);
const { workflow } = erasing;
const { db, superuser } = workflow;

async function approvedByZoe(): Promise<string> {
  const id = await workflow.createIn("UNDER_REVIEW", { owner: "cora", group: "night" });
  await workflow.apply(id, "TECH_REVIEW_APPROVED", "zoe");
  return id;
}

test("no finished message keeps a removed member's Slack user, and messages in flight follow", async () => {
  const control = db.as("headroom_control").pool;
  const zoe = JSON.stringify({ display_name: "Zoe", slack_user_id: "U0ZOE" });
  await control.query("select directory.put_member('acme', 'zoe', $1)", [zoe]);
  await control.query("select directory.put_group('acme', 'night', 'Night', '{zoe,tess}')");
  await approvedByZoe();
  await erasing.deliver();
  const waits = await approvedByZoe();
  const naming = async (): Promise<number> =>
    (
      await oneOf<{ rows: number }>(
        superuser,
        "select count(*)::integer as rows from outbox.payloads where stream_id = outbox.stream_id('capacity') and payload::text ~ '\\mU0ZOE\\M'",
      )
    ).rows;
  const before = await naming();
  await control.query("select directory.remove_member('acme', 'zoe')");
  await superuser.query("select public.run_capacity_request_timers()");
  const still = await naming();
  expect(still).toBeGreaterThan(0);
  expect(still).toBeLessThan(before);
  await erasing.deliver();
  await superuser.query("update capacity.removed_slack_users set next_at = now()");
  await superuser.query("select public.run_capacity_request_timers()");
  expect(await naming()).toBe(0);
  expect(await rowsOf(superuser, "select from capacity.removed_slack_users")).toEqual([]);
  await erasing.expectVerified(waits);
});
