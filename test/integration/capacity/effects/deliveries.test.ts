/**
 * What deliveries bring back to a request: it is read from the engine and shown next to the projection, never part of it.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { Engine } from "../../outbox/harness.ts";
import { oneOf, startWorkflow } from "../harness.ts";

interface Shown {
  readonly slack_thread_ts: string | null;
  readonly last_notified_at: Date | null;
}

describe.each(POSTGRES_VERSIONS)("deliveries of a request on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const engine = new Engine(workflow.db);
  beforeAll(() => engine.start());

  const shown = (id: string): Promise<Shown> =>
    oneOf(workflow.superuser, "select slack_thread_ts, last_notified_at from public.capacity_requests where id = $1", [
      id,
    ]);
  const places = async (id: string): Promise<string[]> => {
    const { story } = await oneOf<{ story: { deliveries: { effect: string; event_seq: number; place: string }[] } }>(
      workflow.superuser,
      "select public.get_capacity_request($1) as story",
      [id],
    );
    return story.deliveries.map((delivery) => `${delivery.event_seq} ${delivery.effect} ${delivery.place}`);
  };

  test("are listed with their positions, their captures and when they arrived", async () => {
    const stream = await oneOf<{ id: number; name: string }>(
      workflow.superuser,
      "select stream_id as id, name from outbox.streams where name = 'capacity'",
    );
    const { id } = await workflow.create({ channel: "C0ROOM" });
    expect(await shown(id)).toEqual({ slack_thread_ts: null, last_notified_at: null });
    expect(await places(id)).toEqual(["1 slack:root pending"]);

    const [root] = await engine.claim(stream);
    expect(await places(id)).toEqual(["1 slack:root in_flight"]);
    // The number of the claim would reveal how much everybody sends.
    const { story } = await oneOf<{ story: unknown }>(
      workflow.superuser,
      "select public.get_capacity_request($1) as story",
      [id],
    );
    expect(JSON.stringify(story)).not.toContain("claim_id");
    await engine.settle(stream, [{ row: root!, captured: { slack_thread_ts: "1700000000.000100" } }]);
    const { at } = await oneOf<{ at: Date }>(
      workflow.superuser,
      "select recorded_at as at from outbox.attempts where outbox_id = $1 and state = 'DISPATCHED'",
      [root!.outbox_id],
    );
    expect(await shown(id)).toEqual({ slack_thread_ts: "1700000000.000100", last_notified_at: at });

    // Newer waiting messages do not hide the one that arrived.
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    expect((await places(id))[0]).toBe("1 slack:root delivered");
    expect((await places(id)).slice(1).every((place) => place.endsWith("pending"))).toBe(true);
    expect(await shown(id)).toEqual({ slack_thread_ts: "1700000000.000100", last_notified_at: at });
    await workflow.expectWhole([id]);
  });
});
