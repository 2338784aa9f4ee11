/**
 * A workspace's connections, which operators set and the owner does not: the endpoints that receive its events, and the states of its
 * Linear team that stand for ours.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { codeOf, oneOf, refusalOf, rowsOf, startWorkflow } from "../harness.ts";

interface Subscription {
  readonly endpoint: string;
  readonly event_types: string[] | null;
  readonly enabled: boolean;
}

describe.each(POSTGRES_VERSIONS)("connections of a workspace on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const control = workflow.db.as("headroom_control");

  const put = (endpoint: string | null, changes: unknown = {}, workspace = "acme"): Promise<Subscription> =>
    oneOf<Subscription>(control.pool, "select * from capacity.put_subscription($1, $2, $3)", [
      workspace,
      endpoint,
      JSON.stringify(changes),
    ]);
  const remove = (endpoint: string): Promise<unknown> =>
    rowsOf(control.pool, "select capacity.remove_subscription('acme', $1)", [endpoint]);
  const list = (workspace = "acme"): Promise<Subscription[]> =>
    rowsOf<Subscription>(control.pool, "select * from capacity.list_subscriptions($1)", [workspace]);
  const map = (state: string | null, linearState: string | null, workspace = "acme"): Promise<unknown> =>
    oneOf(control.pool, "select * from capacity.put_linear_state($1, $2, $3)", [workspace, state, linearState]);

  const effectsOf = async (id: string): Promise<string[][]> =>
    (await workflow.events<{ effects: string[] }>(id)).map((event) => event.effects);

  /** The workflow state that a new request's issue gets. */
  const stateIn = async (): Promise<unknown> => {
    const { id } = await workflow.create();
    const sent = await oneOf<{ payload: { input: { stateId?: string } } }>(
      workflow.superuser,
      `select outbox.rendered(stream_id, 'linear-issue', payload) as payload
         from outbox.payloads where instruction_id = $1 || '#1' and idempotency_key = 'linear:issue'`,
      [id],
    );
    return sent.payload.input.stateId;
  };

  beforeAll(async () => {
    await rowsOf(control.pool, `select directory.put_workspace('acme', '{"linear_team_id": "team-1"}')`);
  });

  test("an endpoint that is subscribed receives all events, or those that it names, until it is switched off", async () => {
    expect(await put("billing", { event_types: ["REQUEST_SUBMITTED"] })).toMatchObject({
      endpoint: "billing",
      event_types: expect.anything(),
      enabled: true,
    });
    expect(await put("audit")).toMatchObject({ event_types: null, enabled: true });
    const { id } = await workflow.create();
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    await put("audit", { enabled: false });
    await workflow.apply(id, "TECH_REVIEW_APPROVED", "tess");
    const heard = (await effectsOf(id)).map((effects) => effects.filter((effect) => effect.startsWith("event:")));
    expect(heard).toEqual([["event:file:audit", "event:file:billing"], ["event:file:audit"], []]);
    expect((await list()).map(({ endpoint, enabled }) => [endpoint, enabled])).toEqual([
      ["audit", false],
      ["billing", true],
    ]);
    expect(await list("globex")).toEqual([]);
    const auditor = workflow.db.as("headroom_auditor").pool;
    expect(await rowsOf(auditor, "select * from capacity.list_subscriptions('acme')")).toHaveLength(2);
  });

  test("a subscription changes field by field: omitted fields stay, null types mean all", async () => {
    await put("crm", { event_types: ["COMMERCIAL_REJECTED"], enabled: false });
    expect(await put("crm", { enabled: true })).toMatchObject({ event_types: expect.anything(), enabled: true });
    expect(await put("crm", { event_types: null })).toMatchObject({ event_types: null, enabled: true });
    await remove("crm");
    expect((await list()).map(({ endpoint }) => endpoint)).not.toContain("crm");
    expect(await codeOf(remove("crm"))).toBe("not_found");
  });

  test.each([
    ["no name", null, {}, "invalid_input"],
    ["a name that is an address", "https://x.example", {}, "invalid_input"],
    ["an unknown field", "crm", { url: "https://x.example" }, "invalid_input"],
    ["an unknown event", "crm", { event_types: ["REQUEST_EATEN"] }, "invalid_input"],
    ["no events at all", "crm", { event_types: [] }, "invalid_input"],
    ["an event that is null", "crm", { event_types: [null] }, "invalid_input"],
    ["events in a list of lists", "crm", { event_types: [["REQUEST_SUBMITTED"]] }, "invalid_input"],
    ["a switch that is null", "crm", { enabled: null }, "invalid_input"],
    ["a switch that is neither", "crm", { enabled: "perhaps" }, "invalid_input"],
    ["changes that are not an object", "crm", [1], "invalid_input"],
  ] as const)("a subscription with %s is refused, and nothing is written", async (_what, endpoint, changes, code) => {
    const before = await list();
    expect(await codeOf(put(endpoint, changes))).toBe(code);
    expect(await list()).toEqual(before);
  });

  test("a state of the Linear team is set where it is mapped, and by its kind again after the mapping is removed", async () => {
    expect(await map("UNDER_REVIEW", "state-7")).toEqual({ state: "UNDER_REVIEW", linear_state_id: "state-7" });
    expect(await stateIn()).toBe("state-7");
    await map("UNDER_REVIEW", "state-8");
    expect(await stateIn()).toBe("state-8");
    expect(await map("UNDER_REVIEW", null)).toEqual({ state: "UNDER_REVIEW", linear_state_id: null });
    expect(await stateIn()).toBeUndefined();
  });

  test.each([
    ["no state", null, "state-7"],
    ["an empty id", "COMPLETED", ""],
    ["an id that is too long", "COMPLETED", "x".repeat(65)],
    ["an id with a line feed", "COMPLETED", "a\nb"],
  ])("a mapping with %s is refused, and nothing is written", async (_what, state, linearState) => {
    expect(await codeOf(map(state, linearState))).toBe("invalid_input");
    expect(await rowsOf(control.pool, "select from capacity.linear_states where state = 'COMPLETED'")).toEqual([]);
  });

  test("a workspace that does not exist has no connections", async () => {
    expect(await codeOf(put("crm", {}, "nowhere"))).toBe("not_found");
    expect(await codeOf(map("COMPLETED", "state-7", "nowhere"))).toBe("not_found");
  });

  test("only operators set them", async () => {
    for (const role of ["headroom_auditor", "headroom_executor", "headroom_ingest"] as const) {
      for (const text of [
        "select capacity.put_subscription('acme', 'crm', '{}')",
        "select capacity.remove_subscription('acme', 'billing')",
        "select capacity.put_linear_state('acme', 'COMPLETED', 'x')",
      ]) {
        expect(await refusalOf(workflow.db.as(role).pool.query(text))).toMatchObject({ code: "42501" });
      }
    }
  });
});
