/** Endpoints over the API: who manages which, and which of a request's events they receive. */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { anonymous, memberSession, overHttp, service, type Session } from "../capacity/gateway.ts";
import { startWorkflow } from "../capacity/harness.ts";
import { refusalOf, rowsOf } from "../outbox/queries.ts";

const key = "the key of these tests, which has more than 32 bytes";

describe.each(POSTGRES_VERSIONS)("endpoints over the API on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;
  const superuser = db.superuser.pool;

  const asked = <T>(session: Session, statement: string, values: unknown[] = []): Promise<T[]> =>
    overHttp(db, session, async (client) => {
      await client.query("select set_config('headroom.secret_key', $1, true)", [key]);
      return rowsOf<T>(client, statement, values);
    });
  const ada = memberSession("ada");
  const glen = memberSession("glen", "globex");
  const put = "select * from public.put_endpoint($1, $2, $3)";

  test("an admin manages the endpoints of their own workspace, and sees the secret once", async () => {
    const [made] = await asked<{ created: boolean; secret: string }>(ada, put, [
      "crm",
      "https://example.com/",
      ["capacity.*"],
    ]);
    expect(made).toMatchObject({ created: true, secret: expect.stringMatching(/^whsec_/) });
    expect(await asked(ada, "select name, workspace_id, topics from public.list_endpoints()")).toEqual([
      { name: "crm", workspace_id: "acme", topics: ["capacity.*"] },
    ]);
    const [rotated] = await asked<{ secret: string }>(ada, "select * from public.rotate_endpoint_secret('crm')");
    expect(rotated!.secret).not.toBe(made!.secret);
    await asked(ada, "select public.disable_endpoint('crm', 'for a while')");
    expect(await asked(ada, "select enabled, secrets from public.list_endpoints()")).toEqual([
      { enabled: false, secrets: 2 },
    ]);
    await asked(ada, "select public.enable_endpoint('crm')");
    // Null leaves a field unchanged.
    await asked(ada, put, ["crm", null, null]);
    expect(await asked(ada, "select url, topics from public.list_endpoints()")).toEqual([
      { url: "https://example.com/", topics: ["capacity.*"] },
    ]);
  });

  test("another workspace's admin sees nothing of it, cannot change it, and is free to use its name", async () => {
    expect(await asked(glen, "select * from public.list_endpoints()")).toEqual([]);
    for (const call of ["remove_endpoint", "enable_endpoint", "disable_endpoint", "rotate_endpoint_secret"]) {
      expect(await refusalOf(asked(glen, `select public.${call}('crm')`))).toMatchObject({ code: "PT404" });
    }
    expect(await refusalOf(asked(glen, "select public.remove_endpoint('crm', 'acme')"))).toMatchObject({
      code: "PT404",
    });
    expect(await asked(glen, put, ["crm", "https://example.org/", ["*"]])).toMatchObject([{ created: true }]);
    expect(await asked(glen, "select name, url from public.list_endpoints()")).toEqual([
      { name: "crm", url: "https://example.org/" },
    ]);
    expect(await refusalOf(asked(glen, "select * from public.list_endpoints('acme')"))).toMatchObject({
      code: "PT404",
    });
    expect(await asked(ada, "select name, url from public.list_endpoints()")).toEqual([
      { name: "crm", url: "https://example.com/" },
    ]);
  });

  test.each([
    ["a requester", memberSession("rita"), "PT403"],
    ["an operator of the workspace", memberSession("otto"), "PT403"],
    ["a member who has left", memberSession("gus"), "PT401"],
    ["nobody in particular", anonymous, "42501"],
  ])("%s cannot manage endpoints", async (_who, session, code) => {
    expect(await refusalOf(asked(session, "select * from public.list_endpoints()"))).toMatchObject({ code });
    expect(await refusalOf(asked(session, put, ["mine", "https://example.com/", []]))).toMatchObject({ code });
    expect(await refusalOf(asked(session, "select public.remove_endpoint('crm')"))).toMatchObject({ code });
  });

  test("an endpoint of a workspace cannot receive events of money, nor use private addresses", async () => {
    for (const topic of ["transfers.*", "ledger.entry", "com.acme.*"]) {
      expect(await refusalOf(asked(ada, put, ["spy", "https://example.com/", [topic]]))).toMatchObject({
        code: "PT400",
        detail: expect.stringContaining("capacity events and headroom.notification only"),
      });
    }
    expect(await refusalOf(asked(ada, put, ["spy", "http://127.0.0.1:5432/", []]))).toMatchObject({ code: "PT400" });
    expect(await rowsOf(superuser, "select from webhooks.endpoints where name = 'spy'")).toEqual([]);
  });

  test("a machine's key manages the endpoints of all, and makes the installation's own", async () => {
    await asked(service, put, ["warehouse", "https://example.com/w", ["transfers.*", "capacity.*"]]);
    expect(await asked(service, "select name, workspace_id from public.list_endpoints()")).toEqual([
      { name: "crm", workspace_id: "acme" },
      { name: "crm", workspace_id: "globex" },
      { name: "warehouse", workspace_id: null },
    ]);
    expect(await asked(service, "select name from public.list_endpoints('globex')")).toEqual([{ name: "crm" }]);
    expect(await refusalOf(asked(service, "select public.disable_endpoint('crm')"))).toMatchObject({ code: "PT404" });
    await asked(service, "select public.disable_endpoint('crm', 'by the operator', 'globex')");
    expect(await asked(service, "select workspace_id from public.list_endpoints() where not enabled")).toEqual([
      { workspace_id: "globex" },
    ]);
    await asked(service, "select public.enable_endpoint('crm', 'globex')");
    expect(await asked(ada, "select name from public.list_endpoints()")).toEqual([{ name: "crm" }]);
    expect(await refusalOf(asked(ada, "select public.remove_endpoint('warehouse')"))).toMatchObject({ code: "PT404" });
  });

  test("a request's events go to the endpoints with matching topics: the workspace's own and the installation's, once each", async () => {
    await asked(service, put, ["elsewhere", "https://example.com/e", ["transfers.*"]]);
    await asked(service, put, ["approvals", "https://example.com/a", ["capacity.request.commercial_approved"]]);
    await asked(glen, put, ["in-a-file", "https://example.com/g", ["*"]]);
    await rowsOf(superuser, "insert into capacity.subscriptions (workspace_id, endpoint) values ('acme', 'in-a-file')");
    const { id } = await workflow.create();
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    await rowsOf(superuser, "select webhooks.disable_endpoint('crm', null, 'acme')");
    await workflow.apply(id, "TECH_REVIEW_APPROVED", "tess");
    const ids = await rowsOf<{ id: string; called: string }>(
      superuser,
      "select id, concat_ws('/', tenant_id, name) as called from webhooks.endpoints",
    );
    const called = (text: string): string =>
      ids.reduce((shown, endpoint) => shown.replace(endpoint.id, endpoint.called), text);
    const effects = (await workflow.events<{ effects: string[] }>(id)).map((event) =>
      event.effects
        .filter((effect) => effect.startsWith("event:"))
        .map(called)
        .toSorted(),
    );
    expect(effects).toEqual([
      ["event:acme/crm", "event:file:in-a-file", "event:warehouse"],
      ["event:acme/crm", "event:approvals", "event:file:in-a-file", "event:warehouse"],
      ["event:file:in-a-file", "event:warehouse"],
    ]);
    const rows = await rowsOf<{ destination: string; tenant_id: string }>(
      superuser,
      `select d.name as destination, m.tenant_id from outbox.payloads m join outbox.destinations d using (destination_id)
        where m.payload ->> 'subject' = $1 group by 1, 2`,
      [id],
    );
    expect(rows.map(({ destination, tenant_id }) => `${tenant_id} ${called(destination)}`).toSorted()).toEqual([
      "acme endpoint:acme/crm",
      "acme endpoint:approvals",
      "acme endpoint:warehouse",
      "acme file:in-a-file",
    ]);
  });
});
