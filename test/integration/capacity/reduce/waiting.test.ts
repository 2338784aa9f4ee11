/**
 * A decision waits for the lock of its request while the actor's standing changes: it is judged by what is true once it has the lock. A
 * caller who may not read a request neither waits for it nor finds out that it exists.
 */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS, type TestClient } from "../../../helpers/database.ts";
import { clickBody, sign, startSlack } from "../../inbound/slack/slack.ts";
import { enter, memberSession, service, type Session } from "../gateway.ts";
import { codeOf, oneOf, refusalOf, rowsOf } from "../harness.ts";

type Review = "COMMERCIAL_APPROVED" | "TECH_REVIEW_APPROVED";

/** What changes for the actor while they wait, and how to undo it. */
interface Change {
  readonly what: string;
  readonly actor: string;
  readonly event: Review;
  readonly before?: string;
  readonly meanwhile: string;
}

const setRoles = (id: string, roles: string): string =>
  `update directory.members set roles = '${roles}' where workspace_id = 'acme' and id = '${id}'`;
const setActive = (id: string, active: boolean): string =>
  `update directory.members set active = ${active} where workspace_id = 'acme' and id = '${id}'`;
const coraGoes =
  "update directory.members set away_from = now() - interval '1 hour', away_until = now() + interval '1 day' where workspace_id = 'acme' and id = 'cora'";
const coraReturns =
  "update directory.members set away_from = null, away_until = null where workspace_id = 'acme' and id = 'cora'";
const leaves = (id: string): string =>
  `delete from directory.group_members where workspace_id = 'acme' and group_id = 'infra' and member_id = '${id}'`;
const joins = (id: string): string =>
  `insert into directory.group_members (workspace_id, group_id, member_id) values ('acme', 'infra', '${id}')`;

const asBefore = `${setRoles("cora", "{commercial}")}; ${setActive("cora", true)}; ${setActive("tess", true)}; ${coraReturns};
  ${leaves("ada")}; ${leaves("tess")}; ${joins("tess")}`;

/** `reads`: an actor who may still read the request is told that they may not decide; everybody else, that it does not exist. */
const losses: readonly (Change & { readonly reads: boolean })[] = [
  {
    what: "loses the role",
    actor: "cora",
    event: "COMMERCIAL_APPROVED",
    meanwhile: setRoles("cora", "{requester}"),
    reads: true,
  },
  {
    what: "leaves the group",
    actor: "tess",
    event: "TECH_REVIEW_APPROVED",
    meanwhile: leaves("tess"),
    reads: false,
  },
  {
    what: "is deactivated",
    actor: "cora",
    event: "COMMERCIAL_APPROVED",
    meanwhile: setActive("cora", false),
    reads: false,
  },
  {
    what: "is no longer a delegate",
    actor: "dora",
    event: "COMMERCIAL_APPROVED",
    before: coraGoes,
    meanwhile: coraReturns,
    reads: false,
  },
];

/** For everybody who could read it before; `unread` are those who could not, for whom a service asks. */
const gains: readonly Change[] = [
  {
    what: "gains the role",
    actor: "cora",
    event: "COMMERCIAL_APPROVED",
    before: setRoles("cora", "{requester}"),
    meanwhile: setRoles("cora", "{commercial}"),
  },
  { what: "joins the group", actor: "ada", event: "TECH_REVIEW_APPROVED", meanwhile: joins("ada") },
];
const unread: readonly Change[] = [
  {
    what: "is activated",
    actor: "tess",
    event: "TECH_REVIEW_APPROVED",
    before: setActive("tess", false),
    meanwhile: setActive("tess", true),
  },
  { what: "comes to stand in for the owner", actor: "dora", event: "COMMERCIAL_APPROVED", meanwhile: coraGoes },
];

/** An answer about a request, without the request's name. */
const apart = ({ code, message, detail, hint }: Awaited<ReturnType<typeof refusalOf>>, named: string) => ({
  code,
  message,
  hint,
  detail: detail?.replace(named, "…"),
});

const slackIds: Readonly<Record<string, string>> = { cora: "U0CORA", tess: "U0TESS", dora: "U0DORA", ada: "U0ADA" };
const approve = "select version from public.apply_capacity_event($1, $2, 'user', $3)";

describe.each(POSTGRES_VERSIONS)("a waiting decision on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { workflow } = slack;
  let holder: TestClient;
  let actor: TestClient;

  beforeAll(async () => {
    holder = await workflow.db.superuser.connect();
    actor = await workflow.db.as("authenticator").connect();
  });
  afterEach(async () => {
    await holder.query("rollback");
    await actor.query("rollback");
    await workflow.db.superuser.pool.query(asBefore);
  });

  const run = (sql: string | undefined) => workflow.db.superuser.pool.query(sql ?? "select");
  const hold = async (id: string): Promise<void> => {
    await holder.query("begin");
    await holder.query("select from capacity.requests where id = $1 for update", [id]);
  };
  const apply = async (session: Session, id: string, event: Review, name: string): Promise<{ version: number }> => {
    await actor.query("begin");
    await enter(actor, session);
    const answer = await oneOf<{ version: number }>(actor, approve, [id, event, name]);
    await actor.query("commit");
    return answer;
  };
  /** Begins to decide while another transaction holds the request, makes the change, and then releases the request. */
  const whileWaiting = async <T>(id: string, change: Change, decide: () => Promise<T>): Promise<T> => {
    await run(change.before);
    await hold(id);
    const decided = decide();
    // The test awaits it later; until then a rejection must not be unhandled.
    decided.catch(() => undefined);
    await workflow.db.waitUntilBlocked(actor);
    await run(change.meanwhile);
    await holder.query("rollback");
    return decided;
  };

  const click = async (id: string, { event, actor: name }: Change) => {
    const action = event === "COMMERCIAL_APPROVED" ? "commercial_approve" : "tech_approve";
    await actor.query("begin");
    await enter(actor, { role: "anon", claims: { role: "anon" } });
    const answer = await slack.sendIn(actor, sign(clickBody(action, id, slackIds[name]!)));
    await actor.query("commit");
    return answer;
  };

  const sessions = [
    ["a member", (name: string): [Session, string] => [memberSession(name), name]],
    ["a service", (name: string): [Session, string] => [service, name]],
    ["a service that names the Slack id", (name: string): [Session, string] => [service, slackIds[name]!]],
  ] as const;

  describe.each(sessions)("by %s", (by, as) => {
    test.each(losses)("is refused when its actor $what meanwhile, and writes nothing", async (change) => {
      const { id } = await workflow.create();
      const before = await workflow.size();
      const [session, name] = as(change.actor);
      const code = await codeOf(whileWaiting(id, change, () => apply(session, id, change.event, name)));
      expect(code).toBe(by === "a member" && !change.reads ? "not_found" : "not_allowed");
      await actor.query("rollback");
      expect(await workflow.size()).toEqual(before);
    });

    test.each(by === "a member" ? gains : [...gains, ...unread])(
      "is allowed when its actor $what meanwhile",
      async (change) => {
        const { id } = await workflow.create();
        const [session, name] = as(change.actor);
        expect(await whileWaiting(id, change, () => apply(session, id, change.event, name))).toEqual({ version: 2 });
        await workflow.expectWhole([id]);
      },
    );
  });

  describe("by a button in Slack", () => {
    test.each(losses)("writes no event when whoever clicked $what meanwhile, and says why", async (change) => {
      const { id } = await workflow.create();
      await slack.takeInteractions();
      await whileWaiting(id, change, () => click(id, change));
      expect(await workflow.row(id)).toMatchObject({ version: 1, state: "UNDER_REVIEW" });
      const [note] = await slack.takeInteractions();
      expect(note).toMatchObject({ method: "chat.postEphemeral", user: slackIds[change.actor] });
      expect(note?.text).toMatch(/Only /);
    });

    test.each(gains)("is an approval when whoever clicked $what meanwhile", async (change) => {
      const { id } = await workflow.create();
      await whileWaiting(id, change, () => click(id, change));
      expect((await workflow.events(id)).at(-1)).toMatchObject({ event_type: change.event, actor_id: change.actor });
    });
  });

  test("a caller who may not read a request is told immediately that it does not exist, while another holds it, and locks nothing", async () => {
    const { id } = await workflow.create();
    const refused = async (named: string) => {
      await actor.query("begin");
      await enter(actor, memberSession("dora"));
      // So that a waiting decision is told apart from a refusal, and does not wait forever.
      await actor.query("set local lock_timeout = '5s'");
      return apart(await refusalOf(oneOf(actor, approve, [named, "COMMERCIAL_APPROVED", "dora"])), named);
    };
    await hold(id);
    const there = await refused(id);
    expect(there).toMatchObject({ code: "PT404", detail: "not_found: …" });
    await holder.query("rollback");
    // Their transaction is still open.
    expect(await rowsOf(holder, "select from capacity.requests where id = $1 for update nowait", [id])).toHaveLength(1);
    await actor.query("rollback");
    expect(await refused("CR-1999-000001")).toEqual(there);
  });

  test("a caller who loses the right to read while waiting is told that the request does not exist", async () => {
    const { id } = await workflow.create();
    const change = losses.find(({ reads }) => !reads)!;
    const told = await refusalOf(
      whileWaiting(id, change, () => apply(memberSession(change.actor), id, change.event, change.actor)),
    );
    await actor.query("rollback");
    const missing = "CR-1999-000001";
    const none = await refusalOf(apply(memberSession(change.actor), missing, change.event, change.actor));
    expect(apart(told, id)).toEqual(apart(none, missing));
  });
});
