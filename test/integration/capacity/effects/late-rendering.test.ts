/** Rows that show the current state: rendered from what is current when a relay sends them. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import type { ProbeRail } from "../../outbox/relay/rails.ts";
import { until } from "../../outbox/relay/stage.ts";
import { customer, linearRail, sentFor, slackRail, startSurfaces, surfaceRail } from "../surfaces.ts";
import { rowsOf } from "../harness.ts";

describe.each(POSTGRES_VERSIONS)("rendering at the moment of sending on PostgreSQL %i", async (version) => {
  const surfaces = await startSurfaces(version);
  /** Sends what waits of these requests, then stops the relay. */
  const posted = async (slack: ProbeRail, ...ids: readonly string[]): Promise<void> => {
    const relay = await surfaces.relay(slack, linearRail(), surfaceRail("email"), surfaceRail("webhook"));
    for (const id of ids) await surfaces.untilFinished(id);
    await relay.stop();
  };

  test("a root update shows the state at the moment it is sent, whatever it waited for", async () => {
    const slack = slackRail();
    const id = await surfaces.createIn("UNDER_REVIEW", { customer });
    await posted(slack, id);
    await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
    await rowsOf(surfaces.superuser, "update directory.members set display_name = 'Cora Cole' where id = 'cora'");
    await surfaces.relay(slack, linearRail(), surfaceRail("email"), surfaceRail("webhook"));
    await surfaces.untilFinished(id);
    await rowsOf(surfaces.superuser, "update directory.members set display_name = 'Cora' where id = 'cora'");
    const update = sentFor<{ method: string; ts?: string }>(slack, id).find(({ method }) => method === "chat.update");
    expect(update?.ts).toBe("1700000000.000001");
    expect(JSON.stringify(update)).toContain("approved by Cora Cole");
  });

  test("of waiting root updates only the last is sent; every reply is", async () => {
    const slack = slackRail();
    const id = await surfaces.createIn("UNDER_REVIEW", { customer });
    await posted(slack, id);
    await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
    await surfaces.apply(id, "TECH_REVIEW_APPROVED", "tess");
    await surfaces.apply(id, "CUSTOMER_CONFIRMED", "customer:customer");
    await posted(slack, id);
    const calls = sentFor<{ method: string; thread_ts?: string }>(slack, id);
    const updates = calls.filter(({ method }) => method === "chat.update");
    expect(updates).toHaveLength(1);
    expect(JSON.stringify(updates)).toContain("being provisioned");
    // One for each step, and one saying that no workflow is connected.
    expect(calls.filter(({ thread_ts }) => thread_ts !== undefined)).toHaveLength(4);
  });

  test("a root update that cannot be rendered waits for its next try, and holds up no other request", async () => {
    const slack = slackRail();
    const [broken, whole] = [await surfaces.create({ customer }), await surfaces.create({ customer })];
    await posted(slack, broken.id, whole.id);
    for (const { id } of [broken, whole]) await surfaces.apply(id, "COMMERCIAL_APPROVED", "cora");
    await rowsOf(
      surfaces.superuser,
      `update outbox.payloads set payload = '{"request": "CR-1999-000000"}' where instruction_id = $1 and idempotency_key = 'slack:root-update'`,
      [`${broken.id}#2`],
    );
    await surfaces.relay(slack, linearRail(), surfaceRail("email"), surfaceRail("webhook"));
    await surfaces.untilFinished(whole.id);
    expect(sentFor<{ method: string }>(slack, whole.id).map(({ method }) => method)).toContain("chat.update");
    const tried = await until(
      () =>
        rowsOf<{ state: string; error_code: string; error: string }>(
          surfaces.superuser,
          `select a.state, a.error_code, w.message as error from outbox.attempts a join outbox.payloads m using (outbox_id)
              left join outbox.answers w using (outbox_id, attempt_no)
            where m.instruction_id = $1 and m.idempotency_key = 'slack:root-update' and a.error_code is not null`,
          [`${broken.id}#2`],
        ),
      (lines) => lines.length > 0,
      "the try that failed",
    );
    expect(tried[0]).toMatchObject({ state: "RETRYABLE", error_code: "render_failed" });
    expect(tried[0]?.error).toContain("There is no such request");
    await rowsOf(
      surfaces.superuser,
      `update outbox.payloads set payload = jsonb_build_object('request', $2::text) where instruction_id = $1 and idempotency_key = 'slack:root-update'`,
      [`${broken.id}#2`, broken.id],
    );
  });
});
