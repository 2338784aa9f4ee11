/**
 * Which member an account at an identity provider belongs to, and what was revoked: through the functions that our server calls, logged in
 * as the gateway.
 */
import { describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../helpers/database.ts";
import { memberSession, overHttp, service, type Session } from "../capacity/gateway.ts";
import { codeOf, oneOf, rowsOf, startWorkflow } from "../capacity/harness.ts";

const issuer = "https://id.example.org";
const ofServer: Session = { role: "service_role", claims: { role: "service_role", purpose: "sign_in" } };

describe.each(POSTGRES_VERSIONS)("signing in on PostgreSQL %i", async (version) => {
  const { db } = await startWorkflow(version);
  const control = db.as("headroom_control").pool;

  const signIn = (subject: string, email: string | null = null, verified = false, session = ofServer, by = issuer) =>
    overHttp(db, session, async (client) => {
      const { who } = await oneOf<{ who: { workspace_id: string; member_id: string } }>(
        client,
        "select public.sign_in_member($1, $2, $3, $4) as who",
        [by, subject, email, verified],
      );
      return `${who.workspace_id}/${who.member_id}`;
    });
  const setEmail = (member: string, email: string) =>
    control.query("select directory.put_member('acme', $1, jsonb_build_object('email', $2::text))", [member, email]);
  const identities = () => rowsOf(db.superuser.pool, "select * from directory.identities order by issuer, subject");

  test("an account belongs to the member to whom an admin linked it, by issuer and subject together", async () => {
    await control.query("select directory.put_identity('acme', 'rita', $1, 'sub-rita')", [issuer]);
    expect(await signIn("sub-rita")).toBe("acme/rita");
    expect(await codeOf(signIn("sub-rita", null, false, ofServer, "https://other.example.org"))).toBe("not_allowed");
    expect(await codeOf(signIn("SUB-RITA"))).toBe("not_allowed");
  });

  test("an unknown account is nobody, and leaves nothing behind", async () => {
    const before = await identities();
    expect(await codeOf(signIn("stranger", "stranger@example.org", true))).toBe("not_allowed");
    expect(await identities()).toEqual(before);
  });

  test("a removed member cannot sign in, and a restored one only after an admin has linked the account again", async () => {
    await control.query("select directory.put_identity('acme', 'tim', $1, 'sub-tim')", [issuer]);
    await control.query("select directory.remove_member('acme', 'tim')");
    expect(await codeOf(signIn("sub-tim"))).toBe("not_allowed");
    await control.query("select directory.put_member('acme', 'tim', '{\"active\": true}')");
    expect(await codeOf(signIn("sub-tim"))).toBe("not_allowed");
    await control.query("select directory.put_identity('acme', 'tim', $1, 'sub-tim')", [issuer]);
    expect(await signIn("sub-tim")).toBe("acme/tim");
  });

  describe("a domain rule", () => {
    test("links a verified address permanently to the one member who has it", async () => {
      await control.query("select directory.put_identity_domain('acme', $1, 'Acme.example')", [issuer]);
      await setEmail("cora", "Cora@acme.example");
      expect(await signIn("sub-cora", "cora@ACME.example", true)).toBe("acme/cora");
      await setEmail("cora", "cora.new@acme.example");
      expect(await signIn("sub-cora")).toBe("acme/cora");
    });

    test("ignores an address that the issuer did not verify, and every other issuer", async () => {
      await setEmail("vera", "vera@acme.example");
      expect(await codeOf(signIn("sub-vera", "vera@acme.example", false))).toBe("not_allowed");
      expect(await codeOf(signIn("sub-vera", "vera@acme.example", true, ofServer, "https://evil.example.org"))).toBe(
        "not_allowed",
      );
      expect(await codeOf(signIn("sub-vera", "vera@acme.example.evil.org", true))).toBe("not_allowed");
      expect(await codeOf(signIn("sub-vera", "x@evil.org@acme.example", true))).toBe("not_allowed");
    });

    test("adds nobody to the directory", async () => {
      const count = "select count(*)::integer as members from directory.members";
      const before = await oneOf(db.superuser.pool, count);
      expect(await codeOf(signIn("sub-new", "new.hire@acme.example", true))).toBe("not_allowed");
      expect(await oneOf(db.superuser.pool, count)).toEqual(before);
    });

    test("links nobody when two members have the address", async () => {
      await setEmail("rob", "shared@acme.example");
      await setEmail("tess", "shared@acme.example");
      expect(await codeOf(signIn("sub-shared", "shared@acme.example", true))).toBe("not_allowed");
    });

    test("does not give a member's account to the next person with their address", async () => {
      await setEmail("carl", "carl@acme.example");
      expect(await signIn("sub-carl", "carl@acme.example", true)).toBe("acme/carl");
      expect(await codeOf(signIn("sub-next-carl", "carl@acme.example", true))).toBe("not_allowed");
    });

    test("reaches no member of another workspace", async () => {
      await control.query("select directory.put_member('globex', 'glen', '{\"email\": \"glen@acme.example\"}')");
      expect(await codeOf(signIn("sub-glen", "glen@acme.example", true))).toBe("not_allowed");
      expect(
        await codeOf(control.query("select directory.put_identity_domain('globex', $1, 'acme.example')", [issuer])),
      ).toBe("conflict");
    });

    test("matches a domain as DNS knows it", async () => {
      for (const domain of ["acme..example", "acme.example.", "acm\u0435.example", "192.0.2.1", "-acme.example"])
        expect(
          await codeOf(control.query("select directory.put_identity_domain('acme', $1, $2)", [issuer, domain])),
        ).toBe("invalid_input");
    });

    test("takes its links and their sessions along when it is removed", async () => {
      const { linked } = await oneOf<{ linked: number }>(
        control,
        "select directory.remove_identity_domain($1, 'ACME.example')::integer as linked",
        [issuer],
      );
      expect(linked).toBe(2);
      expect(await codeOf(signIn("sub-cora"))).toBe("not_allowed");
      expect(await signIn("sub-rita")).toBe("acme/rita");
    });
  });

  test.each([
    ["a service key", service],
    ["a member", memberSession("ada")],
    ["a service key for another purpose", { ...ofServer, claims: { role: "service_role", purpose: "persona" } }],
  ])("%s cannot say who an account is, and so cannot make itself a way in", async (_who, session) => {
    const refused = await signIn("sub-mallory", "ada@acme.example", true, session).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: expect.stringMatching(/^(PT403|42501)$/) });
    // Not because of the account.
    expect(refused).toHaveProperty("message", expect.stringMatching(/^(Only the server itself may|permission denied)/));
  });

  const purposes = ["sign_in", "persona", "receive", "events"];
  test.each([
    ["sign_in", "select public.sign_in_member('https://id.example', 'sub-rita', 'rita@acme.example', true)"],
    ["persona", "select public.list_personas()"],
    ["receive", "select public.webhook_keys('stripe')"],
    ["receive", "select public.record_receipt('postal', 'one', 'MessageSent', '{}')"],
    ["events", "select public.recently_told(0)"],
  ])("what is only for our own server's purpose %s is refused to any other key: %s", async (own, text) => {
    const tryAs = (purpose: string | undefined): Promise<unknown> =>
      overHttp(db, { ...service, claims: { role: "service_role", purpose } }, (client) => client.query(text)).then(
        () => "done",
        (error: { message: string }) => error.message,
      );
    for (const purpose of [undefined, ...purposes.filter((each) => each !== own)])
      expect([purpose, await tryAs(purpose)]).toEqual([purpose, "Only the server itself may do this."]);
    expect(await tryAs(own)).not.toBe("Only the server itself may do this.");
  });

  test("a signed-in member gets name, roles and groups from the directory", async () => {
    const { me } = await overHttp(db, memberSession("tess"), (client) =>
      oneOf<{ me: unknown }>(client, "select public.who_am_i() as me"),
    );
    expect(me).toEqual({
      workspace_id: "acme",
      workspace_name: "Acme",
      member_id: "tess",
      name: "Tess",
      roles: ["requester"],
      groups: ["infra"],
    });
  });
});
