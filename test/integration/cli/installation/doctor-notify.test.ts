/** What `headroom doctor` says about messages to people. */
import { expect, test } from "vitest";
import { rowsOf, startWorkflow } from "../../capacity/harness.ts";
import { makeDue, somebody, tell } from "../../notify/harness.ts";
import { headroom } from "../harness.ts";

const { db, superuser } = await startWorkflow(18);

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly remedy?: string;
}

async function lineAs(url: string): Promise<Finding | undefined> {
  const outcome = await headroom(["doctor", "--json", "--offline", "--database-url", url]);
  const { findings } = JSON.parse(outcome.out) as { findings: Finding[] };
  return findings.find(({ check }) => check === "notifications");
}

test("missing notifications, and messages that fail, are named with the next step", async () => {
  const member = await somebody(superuser);
  const hold = () => tell(superuser, member, { category: "reviews", channels: ["email"], about: "CR-1" });
  expect(await lineAs(db.url)).toMatchObject({ status: "ok", message: "Nothing waits." });
  await hold();
  expect(await lineAs(db.url)).toMatchObject({ status: "ok", message: "1 wait for their time." });
  await rowsOf(superuser, "update notify.parts set due_at = now() - interval '1 hour'");
  expect(await lineAs(db.url)).toMatchObject({
    status: "failure",
    message: expect.stringContaining("nothing sends them") as string,
    remedy: expect.stringContaining("headroom relay") as string,
  });
  for (let each = 0; each < 6; each += 1) {
    await hold();
    await makeDue(superuser, member);
    await rowsOf(superuser, "select public.notification_dispatcher()");
  }
  await rowsOf(superuser, "update notify.deliveries set outcome = 'bounced', outcome_at = now()");
  expect(await lineAs(db.url)).toMatchObject({
    status: "warning",
    message: "Of the last 6 messages by email, 6 failed.",
    remedy: expect.stringContaining("headroom notifications list --status failed") as string,
  });
});
