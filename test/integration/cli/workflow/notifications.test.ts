/** `headroom notify` and `headroom notifications …` against a real database, as the operators' role. */
import { randomUUID } from "node:crypto";
import { expect, onTestFinished, test } from "vitest";
import { rowsOf, startWorkflow } from "../../capacity/harness.ts";
import { somebody } from "../../notify/harness.ts";
import { headroom, type Outcome } from "../harness.ts";

const w = await startWorkflow(18);
const env = { DATABASE_URL: w.db.as("headroom_control").url, HEADROOM_WORKSPACE: "acme" };

function run(...parameters: string[]): Promise<Outcome> {
  return headroom(parameters, { env });
}

const notifications = (...parameters: string[]) => run("notifications", ...parameters);
const producers = (...parameters: string[]) => notifications("producers", ...parameters);

async function json(...parameters: string[]) {
  return JSON.parse((await run(...parameters, "--json")).out);
}

const told = (member: string, ...more: string[]) =>
  json("notify", member, "--title", "The backup is done", "--body", "All 14 databases.", ...more);

test("a member is told something once per key, and its deliveries are listed and shown", async () => {
  const member = await somebody(w.superuser);
  const said = await run("notify", member, "--title", "T", "--body", "B", "--channel", "in-app,email", "--key", "k1");
  expect(said).toMatchObject({ status: 0, err: "" });
  expect(said.out).toMatch(/^p\S+ is notified, as notification [0-9a-f-]{36}\.\nNext: headroom notifications show /);
  const { id, key } = await told(member, "--key", "k1");
  expect(key).toBe("k1");
  expect(said.out).toContain(id);
  const list = (await notifications("list", "--to", member)).out;
  expect(list).toMatch(new RegExp(`^${id} +${member} +pending +email, in-app +T +\\S+Z`, "m"));
  const shown = (await notifications("show", id)).out;
  expect(shown).toMatch(/^email +pending +a relay has it next/m);
  expect(shown).toMatch(/^in-app +delivered +it is in the inbox/m);
  expect(await json("notifications", "list", "--to", member, "--status", "failed")).toEqual({ notifications: [] });
});

test("says immediately when a key was used for something else, and when nobody is reached", async () => {
  const member = await somebody(w.superuser);
  await run("notify", member, "--title", "First", "--body", "B", "--key", "k2");
  expect((await run("notify", member, "--title", "Second", "--body", "B", "--key", "k2")).out).toMatch(
    /got another notification with this key before: \S+\. Nothing was sent\./,
  );
  await rowsOf(w.superuser, "update directory.members set email = null where id = $1", [member]);
  const nowhere = await run("notify", member, "--title", "T", "--body", "B", "--channel", "email");
  expect(nowhere.out).toMatch(/is not reached by notification \S+: by email: no address of the person is known/);
  const half = await run("notify", member, "--title", "T", "--body", "B", "--channel", "in-app,email");
  expect(half.out).toMatch(/is notified, as notification \S+\. But not by email: no address of the person is known/);
  expect(await told(member, "--channel", "email")).toMatchObject({ status: "failed" });
});

test("a failed one names the next step, and is sent again", async () => {
  const member = await somebody(w.superuser);
  await rowsOf(w.superuser, "update directory.members set email = null where id = $1", [member]);
  const { id } = await told(member, "--channel", "email");
  expect((await notifications("list", "--status", "failed", "--to", member)).out).toContain(
    `Next: headroom notifications show ${id}`,
  );
  expect((await notifications("show", id)).out).toContain(
    `Next: headroom members put ${member} --email <address> --workspace acme; then headroom notifications resend ${id}`,
  );
  await run("members", "put", member, "--email", "new@acme.example");
  expect((await notifications("resend", id)).out).toMatch(/^email +pending/m);
  const again = await notifications("resend", id);
  expect(again).toMatchObject({ status: 1, out: "" });
  expect(again.err).toContain("It is still under way.");
});

test("suppressed addresses are listed without the address, and lifted with it", async () => {
  const member = await somebody(w.superuser);
  expect((await notifications("suppressions")).out).toBe("No address is suppressed.\n");
  await rowsOf(
    w.superuser,
    "select notify.suppress('acme', notify.address_mark('acme', $1), 'bounced', 'no such user')",
    [`${member}@acme.example`],
  );
  const list = (await notifications("suppressions")).out;
  expect(list).toMatch(new RegExp(`^[0-9a-f]{12}… +${member} +bounced`, "m"));
  expect(list).not.toContain(`${member}@`);
  expect((await notifications("lift", `${member}@acme.example`)).out).toMatch(/^Mail goes to this address again\.\n/);
  expect((await notifications("lift", `${member}@acme.example`)).out).toMatch(/^It was not suppressed/);
  expect(await json("notifications", "suppressions", "--lifted")).toMatchObject({
    suppressions: [{ memberId: member, liftedBy: expect.stringMatching(/^cli:/) as string }],
  });
});

test("a member who complained gets no mail any more; an invalid address is refused", async () => {
  const member = await somebody(w.superuser);
  expect((await notifications("suppress", `${member}@acme.example`)).out).toMatch(/^No mail goes/);
  expect((await notifications("suppress", `${member}@ACME.example`)).out).toMatch(/^It was suppressed before/);
  expect((await notifications("suppress", "nobody")).err).toContain("That is not an address.");
  expect(await json("notifications", "suppressions")).toMatchObject({
    suppressions: [{ memberId: member, reason: "complained" }],
  });
  expect((await notifications("lift", `${member}@acme.example`)).status).toBe(0);
});

test("preferences are shown and changed for a member", async () => {
  const member = await somebody(w.superuser);
  const as = ["--as", member];
  expect((await notifications("preferences", ...as)).out).toMatch(/^quiet hours +none$/m);
  const chosen = ["--time-zone", "europe/berlin", "--quiet", "22:00-07:00", "--digest-at", "8:15"];
  chosen.push("--choose", "reviews.email=digest", "--choose", "reviews.slack=off");
  const set = await notifications("preferences", "set", ...as, ...chosen);
  expect(set.out).toContain("by the clock of Europe/Berlin");
  expect(set.out).toMatch(/^quiet hours +22:00 to 07:00$/m);
  expect(set.out).toMatch(/^reviews +on +digest +off \(no address\)/m);
  expect(set.out).toMatch(/^operations +.*critical: cannot be switched off$/m);
  expect(await json("notifications", "preferences", "set", ...as, "--no-quiet")).toMatchObject({
    quietFrom: null,
    timeZone: "Europe/Berlin",
    digestAt: "08:15",
  });
});

test("a member's own webhook is set from standard input, never shown, and removed", async () => {
  const member = await somebody(w.superuser);
  const webhook = (stdin: string, ...more: string[]) =>
    headroom(["notifications", "slack-webhook", "--as", member, ...more], {
      env: { ...env, HEADROOM_SECRET_KEY: "k".repeat(32) },
      stdin,
    });
  const set = await webhook("https://hooks.slack.com/services/T1/B1/secretsecret\n");
  expect(set.err + set.out).toMatch(/has their own webhook/);
  expect(set.out).not.toContain("secretsecret");
  expect((await notifications("preferences", "--as", member)).out).not.toMatch(/on \(no address\)/);
  expect((await webhook("https://evil.example/services/T1/B1/x")).err).toContain(
    "not the address of an incoming webhook",
  );
  expect(JSON.parse((await webhook("", "--remove", "--json")).out)).toEqual({ set: false });
});

test("a login becomes a producer, and stops being one", async () => {
  const role = `app_${randomUUID().slice(0, 8)}`;
  await rowsOf(w.superuser, `create role ${role} login`);
  onTestFinished(() => rowsOf(w.superuser, `drop role ${role}`).then(() => undefined));
  expect((await producers("list")).out).toContain("No login was named");
  expect((await producers("add", role, "--actor", "ada")).out).toMatch(/may notify people now\.$/m);
  expect((await producers("list")).out).toMatch(new RegExp(`^${role} +\\S+Z +ada +yes$`, "m"));
  expect((await producers("remove", role)).out).toBe(`${role} may no longer notify people.\n`);
  expect((await producers("remove", role)).out).toBe(`${role} was not a producer. Nothing was changed.\n`);
});

test.each<[string[], number, string]>([
  [["notify", "rita", "--title", "T"], 2, "--body"],
  [["notify", "nobody", "--title", "T", "--body", "B"], 1, "There is no active member of that name"],
  [["notify", "rita", "--title", "T", "--body", "B", "--channel", "pigeon"], 1, "The channels of the notification"],
  [["notify", "rita", "--title", "T", "--body", "B", "--url", "javascript:x"], 1, "The action_url of the notification"],
  [["notify", "rita", "--title", "T", "--body", "B", "--expires", "soon"], 2, "a span from now"],
  [["notify", "rita", "--title", "T", "--body", "B", "--priority", "10"], 2, "0 to 9"],
  [["notifications", "show", "7"], 2, "headroom notifications list"],
  [["notifications", "show", randomUUID()], 1, "There is no such notification."],
  [["notifications", "list", "--workspace", "nowhere"], 1, "There is no workspace"],
  [["notifications", "list", "--status", "lost"], 2, "Allowed choices"],
  [["notifications", "lift", "a@b.example", "--workspace", "nowhere"], 1, "There is no workspace"],
  [["notifications", "preferences"], 2, "No member was given"],
  [["notifications", "preferences", "set", "--as", "rita"], 2, "Nothing was given to change."],
  [["notifications", "preferences", "set", "--as", "rita", "--quiet", "22:00"], 2, "such as 22:00-07:00"],
  [["notifications", "preferences", "set", "--as", "rita", "--choose", "x"], 2, "category.channel=choice"],
  [
    ["notifications", "preferences", "set", "--as", "rita", "--choose", "operations.email=off"],
    1,
    "always told at once",
  ],
  [["notifications", "preferences", "set", "--as", "rita", "--time-zone", "Moon"], 1, "There is no time zone"],
  [["notifications", "preferences", "--as", "nobody"], 1, "There is no active member"],
  [["notifications", "producers", "add", "anon"], 1, "others use it too"],
  [["notifications", "producers", "add", "no_such_role"], 1, "There is no role of that name"],
])("refuses %j", async (parameters, status, words) => {
  const outcome = await run(...parameters);
  expect({ status: outcome.status, out: outcome.out }).toEqual({ status, out: "" });
  expect(outcome.err).toContain(words);
});
