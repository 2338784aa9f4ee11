/** `headroom members …`: the directory, maintained by an operator at the command line. */
import { expect, test } from "vitest";
import { createRequest } from "../../../../src/capacity/index.ts";
import { putMember } from "../../../../src/directory/index.ts";
import { createTestDatabase } from "../../../helpers/database.ts";
import { headroom, type Outcome } from "../harness.ts";

const db = await createTestDatabase();
const control = db.as("headroom_control");
const env = { DATABASE_URL: control.url };

async function members(...parameters: string[]): Promise<Outcome> {
  return headroom(["members", ...parameters], { env });
}

async function membersJson(...parameters: string[]) {
  const outcome = await members(...parameters, "--json");
  return { status: outcome.status, answer: JSON.parse(outcome.out) };
}

test("a member is added, changed, emptied and listed", async () => {
  expect((await members("list")).out).toContain("Next: headroom members put");
  const added = await members(
    "put",
    "olga",
    "--name",
    "Olga O",
    "--email",
    "o@example.org",
    "--slack",
    "U024OLGA",
    "--role",
    "commercial",
    "requester",
  );
  expect(added).toMatchObject({
    status: 0,
    err: "",
    out: "olga (Olga O) is in the directory: commercial, requester.\n",
  });
  await putMember(control.pool, "default", "dan", {});
  const { answer } = await membersJson(
    "put",
    "olga",
    "--no-email",
    "--delegate",
    "dan",
    "--away-from",
    "2020-01-01",
    "--away-until",
    "2999-01-01T12:00:00Z",
  );
  expect(answer.member).toEqual({
    id: "olga",
    displayName: "Olga O",
    email: null,
    slackUserId: "U024OLGA",
    withoutSlack: null,
    roles: ["commercial", "requester"],
    delegate: "dan",
    awayFrom: "2020-01-01T00:00:00.000Z",
    awayUntil: "2999-01-01T12:00:00.000Z",
    active: true,
  });
  const plain = await members("list");
  expect(plain.out).toMatch(
    /^olga +Olga O +commercial, requester +- +- +U024OLGA +away until 2999-01-01T12:00:00.000Z, dan acts$/m,
  );
  expect(plain.out).toMatch(/^dan +dan +requester +- +- +missing +active$/m);
  const emptied = await membersJson("put", "olga", "--no-away", "--no-delegate", "--no-slack");
  expect(emptied.answer.member).toMatchObject({ awayFrom: null, awayUntil: null, delegate: null, slackUserId: null });

  // Reviewers without a Slack user are named, until an operator says that they have none.
  expect((await members("list")).out).toContain("Reviewers without a Slack user id");
  const missing = async () =>
    ((await membersJson("list")).answer.members as { id: string; slackMissing: boolean }[])
      .filter(({ slackMissing }) => slackMissing)
      .map(({ id }) => id);
  expect(await missing()).toEqual(["olga"]);
  const { answer: said } = await membersJson("put", "olga", "--without-slack");
  expect(said.member.withoutSlack).toEqual({ by: "login_headroom_control", at: expect.any(String) });
  expect(await missing()).toEqual([]);
  const none = await members("list");
  expect(none.out).toMatch(/^olga .* none +active$/m);
  expect(none.out).not.toContain("Reviewers without");
});

test("groups are made, changed, listed and removed", async () => {
  expect((await members("groups")).out).toContain("put-group");
  await putMember(control.pool, "default", "tom", {});
  expect((await members("put-group", "infra", "--name", "Infra team", "--add", "tom", "--add", "dan")).out).toBe(
    "infra (Infra team): dan, tom.\n",
  );
  expect((await membersJson("put-group", "infra", "--remove", "dan")).answer).toEqual({
    group: { id: "infra", name: "Infra team", members: ["tom"], slackChannelId: null },
  });
  expect((await members("groups")).out).toMatch(/^infra +Infra team +- +tom$/m);
  await members("put-group", "spare");
  expect((await members("remove-group", "spare")).out).toBe("spare was removed.\n");
});

test("a removed member is reported as gone, with what ended and what waited for them, and comes back only when that is requested", async () => {
  await putMember(control.pool, "default", "ann", {});
  await createRequest(control.pool, {
    requester: "ann",
    commercialOwner: "olga",
    infraGroup: "infra",
    size: "8XL",
    quantity: 1,
    region: "eu-west-1",
  });
  await members("put-group", "infra", "--add", "olga");
  await members("put", "olga", "--slack", "U024OLGA");
  await members("put", "dan", "--delegate", "olga");
  await members("identity", "add", "olga", "--issuer", "https://id.example.org", "--subject", "olga-1");
  await control.pool.query("select directory.put_api_key('olga-laptop', 'authenticated', 'default', 'olga')");
  const plain = await members("remove", "olga");
  expect(plain).toMatchObject({ status: 0, err: "" });
  expect(plain.out).toContain("olga was removed, also from infra.");
  expect(plain.out).toContain(
    "Ended: all sessions; roles commercial, requester; Slack user U024OLGA; accounts at identity providers: 1; keys olga-laptop.",
  );
  expect(plain.out).toContain("1 open request has olga as owner or approver");
  expect(plain.out).toContain("olga was the delegate of dan.");
  expect((await members("list", "--all")).out).toMatch(/^olga .+removed$/m);
  const refused = await members("put", "olga", "--role", "vp");
  expect(refused).toMatchObject({ status: 1, err: expect.stringContaining("headroom members put --back") });
  await members("put", "olga", "--back", "--name", "Olga O");
  expect((await members("list")).out).toMatch(/^olga +Olga O +requester +- +- +- +active$/m);
});

test.each([
  [["put", "x", "--email", "nonsense"], 1, "email"],
  [["remove", "nobody"], 1, "headroom members list"],
  [["list", "--workspace", "nowhere"], 1, "no workspace"],
  [["put", "x", "--role", "king"], 2, "Allowed choices"],
  [["put", "x", "--away-from", "later"], 2, "Give a date"],
  [["put", "x", "--no-away", "--away-from", "2026-01-01"], 2, "--no-away cannot be used together with --away-from"],
])("%j is refused with an explanation", async (parameters, status, message) => {
  const outcome = await members(...parameters);
  expect(outcome).toMatchObject({ status, out: "" });
  expect(outcome.err).toContain(message);
});

test("an auditor reads the directory and cannot change it", async () => {
  const auditor = { env: { DATABASE_URL: db.as("headroom_auditor").url } };
  expect((await headroom(["members", "list"], auditor)).status).toBe(0);
  const refused = await headroom(["members", "put", "mallory", "--role", "admin"], auditor);
  expect(refused.status).toBe(1);
  expect(refused.err).toContain("permission denied");
});
