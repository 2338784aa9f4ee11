/**
 * What was called back is refused before every request, as PostgREST asks: a key that was revoked, and a session in a browser that began
 * before its member was signed out. Whatever else a token says is none of this gate's business.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { memberSession, overHttp, service, type Session } from "./gateway.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "./workflow.ts";

const withClaims = (session: Session, claims: object): Session => ({
  role: session.role,
  claims: { ...(session.claims as object), ...claims },
});

describe.each(POSTGRES_VERSIONS)("what was called back on PostgreSQL %i", async (version) => {
  const workflow = await startWorkflow(version);
  const { db } = workflow;
  const control = db.as("headroom_control").pool;

  /** One request: the gate first, then the work, in one transaction. */
  const ask = (session: Session, path = "/rpc/who_am_i"): Promise<unknown> =>
    overHttp(db, session, async (client) => {
      await client.query("select set_config('request.path', $1, true)", [path]);
      await client.query("select public.check_request()");
      return rowsOf(client, "select id from public.capacity_requests limit 1");
    });

  test.each([
    ["a member's key", "rita-laptop", memberSession("rita"), ["authenticated", "acme", "rita"]],
    ["a machine's key", "ci", service, ["service_role", null, null]],
  ] as const)("%s is good until it is revoked, and then refused on every path", async (_what, id, session, key) => {
    const holder = withClaims(session, { key_id: id });
    await ask(holder);
    await rowsOf(control, "select capacity.put_api_key($1, $2, $3, $4)", [id, ...key]);
    await ask(holder);
    await rowsOf(control, "select capacity.revoke_api_key($1)", [id]);
    for (const path of ["/rpc/who_am_i", "/capacity_requests", "/", ""]) {
      expect([path, await codeOf(ask(holder, path))]).toEqual([path, "not_signed_in"]);
    }
    // Another key of the same holder, and a token without a key, are not touched.
    await ask(withClaims(session, { key_id: `${id}-2` }));
    await ask(session);
  });

  test("a session in a browser ends when its member is signed out, and a later one is good", async () => {
    const since = (at: number): Session =>
      withClaims(memberSession("cora"), { via: "web", signed_in_at: Math.floor(at) });
    const { now } = await oneOf<{ now: number }>(
      workflow.superuser,
      "update capacity.members set signed_out_at = now() where workspace_id = 'acme' and id = 'cora' returning extract(epoch from now())::float8 as now",
    );
    expect(await codeOf(ask(since(now - 60)))).toBe("not_signed_in");
    expect(await codeOf(ask(withClaims(memberSession("cora"), { via: "web" })))).toBe("not_signed_in");
    await ask(since(now + 60));
    // Keys of the API are not sessions.
    await ask(memberSession("cora"));
    await ask(withClaims(memberSession("rita"), { via: "web", signed_in_at: now - 60 }));
  });

  test("a deeply nested or odd claim is refused by nobody here and lets nobody in", async () => {
    for (const claims of ["[".repeat(50_000), '{"key_id": {"a": 1}}', '{"via": "web", "signed_in_at": "x"}', "", "7"]) {
      expect(await ask({ role: "authenticated", claims })).toEqual([]);
    }
  });
});
