/**
 * Verification finds routes that differ from the endpoints and subscriptions, and names their events; rebuilding the routes repairs them.
 */
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { verify, type Finding } from "../../../../src/capacity/index.ts";
import { POSTGRES_VERSIONS, type TestClient } from "../../../helpers/database.ts";
import { Endpoint, startRouting } from "../routes/routing.ts";
import { rowsOf } from "../harness.ts";

const missing = (subject: string, events: string): Finding => ({
  invariant: "I9",
  code: "route_missing",
  subject,
  detail: `is not sent what it should get: ${events}`,
});
const extra = (subject: string, events: string): Finding => ({
  invariant: "I9",
  code: "route_extra",
  subject,
  detail: `is sent what it should not get: ${events}`,
});

async function found(client: TestClient, workspaceId?: string): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const batch of verify(client, { workspaceId })) findings.push(...batch.findings);
  return findings;
}

describe.each(POSTGRES_VERSIONS)("verification of routes on PostgreSQL %i", async (version) => {
  const routing = await startRouting(version);
  const names = { own: "", shared: "" };

  beforeAll(async () => {
    const control = await routing.control();
    const [own, shared] = [new Endpoint(control, "own", "acme"), new Endpoint(control, "shared")];
    await own.put(["capacity.*"]);
    await shared.put(["capacity.request.cancel_approved"]);
    names.own = (await own.row()).id;
    names.shared = (await shared.row()).id;
    await rowsOf(control, "select capacity.put_subscription('globex', 'audit')");
  });

  /** Changes something behind the functions' back, until the end of the test. */
  async function planted(...statements: readonly string[]): Promise<TestClient> {
    const client = await routing.workflow.db.superuser.connect();
    onTestFinished(async () => void (await client.query("rollback")));
    await client.query("begin; set local session_replication_role = replica");
    for (const statement of statements) await client.query(statement);
    return client;
  }

  test("finds nothing when nothing was changed, and counts a route for each endpoint and type of event", async () => {
    const auditor = await routing.workflow.db.as("headroom_auditor").connect();
    expect(await found(auditor)).toEqual([]);
    const counted = `select v.routes::int from unnest('{null,acme,globex,nowhere}'::text[]) with ordinality w(id, n)
                      cross join lateral capacity.verify_routes(w.id) v order by w.n`;
    const rows = await rowsOf<{ routes: number }>(auditor, counted);
    expect(rows.map(({ routes }) => routes)).toEqual([11 + 1 + 11, 11, 11, 0]);
  });

  test("finds missing rows, by endpoint, and in whose workspace", async () => {
    const client = await planted(
      `delete from capacity.routes where name = '${names.own}' and event_type in ('REQUEST_SUBMITTED', 'CANCEL_APPROVED')`,
      `delete from capacity.routes where name in ('file:audit', '${names.shared}') and event_type = 'CANCEL_APPROVED'`,
    );
    const [ofAcme, ofGlobex] = [
      missing(`acme/${names.own}`, "REQUEST_SUBMITTED, CANCEL_APPROVED"),
      missing("globex/file:audit", "CANCEL_APPROVED"),
    ];
    expect(await found(client)).toEqual(
      [ofAcme, ofGlobex, missing(names.shared, "CANCEL_APPROVED")].toSorted((a, b) => (a.subject < b.subject ? -1 : 1)),
    );
    expect(await found(client, "acme")).toEqual([ofAcme]);
    expect(await found(client, "globex")).toEqual([ofGlobex]);
  });

  test.each([
    [
      "for an endpoint that never existed",
      "",
      "REQUEST_SUBMITTED",
      (): string => "01234567-0000-4000-8000-000000000000",
    ],
    ["for an event that the topics do not include", "", "REQUEST_SUBMITTED", () => names.shared],
    ["for another workspace's events", "globex", "REQUEST_SUBMITTED", () => names.own],
    ["for a subscription that never existed", "acme", "CANCEL_APPROVED", (): string => "file:audit"],
  ] as const)("finds a row %s", async (_what, workspace, event, nameOf) => {
    const name = nameOf();
    const client = await planted(`insert into capacity.routes values ('${workspace}', '${event}', '${name}')`);
    expect(await found(client)).toEqual([extra(workspace === "" ? name : `${workspace}/${name}`, event)]);
    expect(await found(client, workspace === "acme" ? "globex" : "acme")).toEqual([]);
  });

  test.each([
    [
      "disabled",
      () =>
        `update webhooks.endpoints set enabled = false, disabled_at = now(), disabled_code = 'x' where id = '${names.shared}'`,
    ],
    ["removed", () => `delete from webhooks.endpoints where id = '${names.shared}'`],
  ])("finds an endpoint that was %s behind the functions' back", async (_what, statement) => {
    const client = await planted(statement());
    expect(await found(client)).toEqual([extra(names.shared, "CANCEL_APPROVED")]);
  });

  test("finds nothing after the routes were rebuilt", async () => {
    const client = await planted(
      `delete from capacity.routes where name = '${names.own}'`,
      "insert into capacity.routes values ('', 'CANCEL_APPROVED', 'file:nobody'), ('acme', 'REQUEST_SUBMITTED', 'file:audit')",
    );
    expect(await found(client)).toHaveLength(3);
    await client.query("select capacity.route_all()");
    expect(await found(client)).toEqual([]);
  });
});
