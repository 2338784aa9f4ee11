/** Events go where the endpoints' topics and the subscriptions say, whatever was changed before: as if all were matched at the event. */
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS, type TestClient } from "../../../helpers/database.ts";
import { eventTypes } from "../reduce/model.ts";
import { oneOf, rowsOf } from "../harness.ts";
import { Endpoint, startRouting } from "./routing.ts";

const all = eventTypes.toSorted();
const approvals = ["COMMERCIAL_APPROVED"];
const submissions = ["REQUEST_SUBMITTED"];

/** What an endpoint asks for, and what it receives. */
const topics = [
  ["everything", ["*"], all],
  ["all events of requests", ["capacity.request.*"], all],
  ["the stream in front of the type", ["capacity.capacity.request.*"], all],
  ["one event, and an unknown one", ["capacity.request.commercial_approved", "capacity.request.eaten"], approvals],
  [
    "two topics that overlap",
    ["capacity.request.commercial_approved", "capacity.capacity.request.commercial_approved"],
    approvals,
  ],
  ["something else", ["headroom.notification"], []],
] as const;

/** What is done to it, and what it then receives of what it asked for. */
interface Deed {
  readonly done: (endpoint: Endpoint, relay: TestClient) => Promise<unknown>;
  readonly hears: "as asked" | "nothing" | "submissions";
}
const deeds: readonly (readonly [string, Deed])[] = [
  ["was made", { done: async () => {}, hears: "as asked" }],
  ["was disabled by a person", { done: (it) => it.disable(), hears: "nothing" }],
  ["was disabled by a relay", { done: (it, relay) => it.gone(relay), hears: "nothing" }],
  ["was removed", { done: (it) => it.remove(), hears: "nothing" }],
  ["was given another secret", { done: (it) => it.rotate(), hears: "as asked" }],
  [
    "was enabled again after a person",
    {
      done: async (it) => {
        await it.disable();
        await it.enable();
      },
      hears: "as asked",
    },
  ],
  [
    "was enabled again after a relay",
    {
      done: async (it, relay) => {
        await it.gone(relay);
        await it.enable();
      },
      hears: "as asked",
    },
  ],
  ["was given other topics", { done: (it) => it.put(["capacity.request.request_submitted"]), hears: "submissions" }],
  [
    "was given other topics while disabled",
    {
      done: async (it) => {
        await it.disable();
        await it.put(["capacity.request.request_submitted"]);
      },
      hears: "nothing",
    },
  ],
  [
    "was given other topics while disabled, and enabled",
    {
      done: async (it) => {
        await it.disable();
        await it.put(["capacity.request.request_submitted"]);
        await it.enable();
      },
      hears: "submissions",
    },
  ],
  [
    "was removed and made again",
    {
      done: async (it) => {
        await it.remove();
        await it.put(["capacity.request.request_submitted"]);
      },
      hears: "submissions",
    },
  ],
];

describe.each(POSTGRES_VERSIONS)("routes on PostgreSQL %i", async (version) => {
  const routing = await startRouting(version);
  const { workflow } = routing;
  let control: TestClient;
  let relay: TestClient;

  beforeAll(async () => {
    control = await routing.control();
    relay = await workflow.db.as("headroom_executor").connect();
    await routing.begin();
    await neighbours();
  });
  beforeEach(() => routing.clear());

  const subscribe = (name: string, changes: object, workspace = "acme"): Promise<unknown> =>
    rowsOf(control, "select capacity.put_subscription($1, $2, $3)", [workspace, name, JSON.stringify(changes)]);

  /** Others of each kind, which are not changed. */
  async function neighbours(): Promise<void> {
    await new Endpoint(control, "neighbour", "acme").put(["capacity.*"]);
    await new Endpoint(control, "neighbour", "globex").put(["*"]);
    await new Endpoint(control, "neighbour").put(["transfers.*", "capacity.request.customer_confirmed"]);
    await subscribe("billing", {});
    await subscribe("billing", { event_types: ["REQUEST_SUBMITTED"] }, "globex");
  }

  describe.each([
    ["the workspace's own", "acme"],
    ["the installation's", undefined],
  ] as const)("of an endpoint, %s, that asks for", (_whose, owner) => {
    describe.each(topics)("%s", (_what, asked, heard) => {
      test.each(deeds)("and %s: as if it were matched at the event", async (_deed, { done, hears }) => {
        const endpoint = new Endpoint(control, "subject", owner);
        await endpoint.put(asked);
        const { id } = await endpoint.row();
        await done(endpoint, relay);
        expect(await routing.answered()).toEqual(await routing.wanted());
        const [now] = await rowsOf<{ id: string }>(control, "select id from webhooks.endpoints where name = 'subject'");
        const expected = { "as asked": [...heard], nothing: [], submissions }[hears];
        expect(await routing.heardBy(`event:${now?.id ?? id}`)).toEqual({
          acme: expected,
          globex: owner === undefined ? expected : [],
        });
      });
    });
  });

  const subscriptionDeeds: readonly (readonly [string, readonly object[], "as asked" | "nothing" | "submissions"])[] = [
    ["was made", [], "as asked"],
    ["was switched off", [{ enabled: false }], "nothing"],
    ["was switched off and on", [{ enabled: false }, { enabled: true }], "as asked"],
    ["names other events", [{ event_types: ["REQUEST_SUBMITTED"] }], "submissions"],
    ["names other events while off", [{ enabled: false }, { event_types: ["REQUEST_SUBMITTED"] }], "nothing"],
  ];
  describe.each([
    ["all events", null, all],
    ["one", ["COMMERCIAL_APPROVED"], approvals],
  ] as const)("of a subscription to %s", (_what, asked, heard) => {
    test.each(subscriptionDeeds)("that %s: as if it were matched at the event", async (_deed, changes, hears) => {
      await subscribe("subject", { event_types: asked });
      for (const change of changes) await subscribe("subject", change);
      expect(await routing.answered()).toEqual(await routing.wanted());
      const expected = { "as asked": [...heard], nothing: [], submissions }[hears];
      expect(await routing.heardBy("event:file:subject")).toEqual({ acme: expected, globex: [] });
    });

    test("that was removed: nothing, and the other workspace's subscription of that name stays", async () => {
      await subscribe("subject", { event_types: asked });
      await subscribe("subject", { event_types: asked }, "globex");
      await rowsOf(control, "select capacity.remove_subscription('acme', 'subject')");
      expect(await routing.answered()).toEqual(await routing.wanted());
      expect(await routing.heardBy("event:file:subject")).toEqual({ acme: [], globex: [...heard] });
    });
  });

  test("the next event goes to exactly these, in the order of their names", async () => {
    await new Endpoint(control, "subject", "acme").put(["*"]);
    const wanted = (await routing.wanted()).find(
      ({ workspace, event }) => workspace === "acme" && event === "REQUEST_SUBMITTED",
    );
    expect(wanted?.names).toHaveLength(3);
    const { id } = await workflow.create();
    const [event] = await workflow.events<{ effects: string[] }>(id);
    expect(event?.effects.filter((effect) => effect.startsWith("event:"))).toEqual(wanted?.names);
  });

  test("a tenant without a name, from before there were workspaces, receives nobody's events", async () => {
    await rowsOf(
      workflow.superuser,
      "insert into webhooks.endpoints (name, tenant_id, url, topics) values ('subject', '', 'https://hooks.example/x', '{*}')",
    );
    const { id } = await oneOf<{ id: string }>(control, "select id from webhooks.endpoints where name = 'subject'");
    expect(await rowsOf(control, "select from capacity.routes where name = $1", [id])).toEqual([]);
    expect(await routing.answered()).toEqual(await routing.wanted());
  });
});
