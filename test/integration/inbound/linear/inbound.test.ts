/**
 * What people do in Linear becomes a note on the request, once, and never a decision; what we did there ourselves is ignored.
 */
import { createHash, createHmac, randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { POSTGRES_VERSIONS } from "../../../helpers/database.ts";
import { anonymous, overHttp } from "../../capacity/gateway.ts";
import { tracesOf } from "../../capacity/traces.ts";
import { codeOf, oneOf, rowsOf } from "../../capacity/harness.ts";
import { channel, setSecret, startSlack } from "../slack/slack.ts";

const secret = "lin_wh_".padEnd(40, "x");
const ann = { id: "u-ann", type: "user", name: "Ann <b>" };

interface Sent {
  readonly type?: string;
  readonly action?: string;
  readonly data?: object;
  readonly actor?: object;
  readonly updatedFrom?: object;
  readonly webhookTimestamp?: unknown;
}

function body(sent: Sent): string {
  const at = new Date();
  return JSON.stringify({
    action: "create",
    type: "Comment",
    actor: ann,
    createdAt: at.toISOString(),
    organizationId: "org",
    webhookTimestamp: at.getTime(),
    webhookId: "hook",
    ...sent,
  });
}

const signatureOf = (text: string, key = secret): string => createHmac("sha256", key).update(text).digest("hex");

const comment = (issue: string, more: object = {}): Sent => ({
  data: { id: randomUUID(), body: "Looks good + ready = 🚀", issueId: issue, userId: ann.id, ...more },
});

const valid = (): string => body(comment(randomUUID()));

describe.each(POSTGRES_VERSIONS)("Linear's deliveries on PostgreSQL %i", async (version) => {
  const slack = await startSlack(version);
  const { workflow } = slack;
  const { db, superuser } = workflow;

  beforeAll(async () => {
    await setSecret(workflow, "LINEAR_WEBHOOK_SECRET", secret);
    await rowsOf(superuser, "update directory.workspaces set linear_team_id = 'team' where id = 'acme'");
  });

  const deliver = (text: string, headers: Record<string, string> = { "linear-signature": signatureOf(text) }) =>
    overHttp(db, anonymous, async (client) => {
      await client.query(
        "select set_config('request.headers', $1, true), set_config('request.path', '/rpc/handle_linear_webhook', true)",
        [JSON.stringify({ "linear-delivery": randomUUID(), ...headers })],
      );
      await client.query("select public.check_request()");
      return (await oneOf<{ answer: unknown }>(client, "select public.handle_linear_webhook($1) as answer", [text]))
        .answer;
    });

  /** A request whose issue was made in Linear, as the relay's settling reports it to the database. */
  async function withIssue(): Promise<{ id: string; issue: string }> {
    const { id } = await workflow.create({ channel });
    const issue = randomUUID();
    await rowsOf(
      superuser,
      `select outbox.store_captures(array[jsonb_populate_record(null::outbox.row_outcome,
          jsonb_build_object('outbox_id', r.outbox_id, 'lane_id', r.lane_id, 'seq', r.seq, 'captured', jsonb_build_object('linear_issue_id', $2::text)))])
         from outbox.payloads r where r.instruction_id = $1 || '#1' and r.idempotency_key = 'linear:issue'`,
      [id, issue],
    );
    await rowsOf(
      superuser,
      `select capacity.keep_captures(jsonb_build_array(jsonb_build_object(
         'stream', 'capacity', 'rail', 'linear', 'key', $1 || ':linear', 'name', 'linear_issue_id', 'value', to_jsonb($2::text))))`,
      [id, issue],
    );
    return { id, issue };
  }

  const notesOf = async (id: string): Promise<{ body: string; actor: string; via: string; effects: string[] }[]> => {
    const { notices } = await oneOf<{ notices: { body: string; actor_id: string; via: string }[] }>(
      superuser,
      "select public.get_capacity_request($1) -> 'notices' as notices",
      [id],
    );
    const effects = await rowsOf<{ effects: string[] }>(
      superuser,
      "select effects from capacity.notices where request_id = $1 order by id",
      [id],
    );
    return notices.map((notice, index) => ({
      body: notice.body,
      actor: notice.actor_id,
      via: notice.via,
      effects: effects[index]?.effects ?? [],
    }));
  };

  test("a comment becomes a note in the thread, and is not sent back to Linear", async () => {
    const { id, issue } = await withIssue();
    expect(await deliver(body(comment(issue)))).toEqual({});
    expect(await notesOf(id)).toEqual([
      {
        body: "Ann <b> commented in Linear: Looks good + ready = 🚀",
        actor: "linear",
        via: "linear",
        effects: ["slack:reply"],
      },
    ]);
    expect((await workflow.row(id)).version).toBe(1);
  });

  test("nothing is kept of an issue's earlier content, not even a digest", async () => {
    const { issue } = await withIssue();
    const updatedFrom = { title: "4 × 32XL for Initech" };
    const sent = body({ type: "Issue", action: "update", data: { id: issue }, updatedFrom });
    await deliver(sent);
    const { createdAt } = JSON.parse(sent) as { createdAt: string };
    // The digest that a person who knows the time would compute from a guess.
    const guess = createHash("sha256")
      .update(`${createdAt} {"title": "4 × 32XL for Initech"}`)
      .digest("hex")
      .slice(0, 32);
    expect(await tracesOf(db, [guess, "32XL for Initech"])).toEqual([]);
  });

  test("a change of state becomes a note, and changes nothing about the request", async () => {
    const { id, issue } = await withIssue();
    await deliver(
      body({
        type: "Issue",
        action: "update",
        data: { id: issue, state: { id: "s2", name: "Done", type: "completed" } },
        updatedFrom: { stateId: "s1" },
      }),
    );
    expect((await notesOf(id)).map((note) => note.body)).toEqual([
      "Ann <b> moved the issue in Linear to “Done”. The request itself is unchanged.",
    ]);
    expect(await workflow.row(id)).toMatchObject({ state: "UNDER_REVIEW", version: 1 });
  });

  test("a change that does not matter is kept as ignored", async () => {
    const { id, issue } = await withIssue();
    await deliver(
      body({ type: "Issue", action: "update", data: { id: issue, title: "x" }, updatedFrom: { title: "y" } }),
    );
    await deliver(body({ ...comment(issue), action: "update" }));
    expect(await notesOf(id)).toEqual([]);
    expect(
      await rowsOf(superuser, "select distinct outcome from inbound.receipts where request_id = $1", [id]),
    ).toEqual([{ outcome: "ignored" }]);
  });

  test("a delivery that comes again, or is replayed under another delivery id, makes no second note", async () => {
    const { id, issue } = await withIssue();
    const text = body(comment(issue));
    for (let time = 0; time < 3; time += 1) await deliver(text);
    expect(await notesOf(id)).toHaveLength(1);
  });

  test("our own comments are ignored when they come back, and show which user we are there", async () => {
    const { id, issue } = await withIssue();
    await workflow.apply(id, "COMMERCIAL_APPROVED", "cora");
    const { ours } = await oneOf<{ ours: string }>(
      superuser,
      "select payload ->> 'new_id' as ours from outbox.payloads where instruction_id = $1 || '#2' and idempotency_key = 'linear:comment'",
      [id],
    );
    const bot = { id: "u-bot", type: "user", name: "Headroom" };
    const move: Sent = {
      type: "Issue",
      action: "update",
      actor: bot,
      data: { id: issue, state: { id: "s2", name: "Started", type: "started" } },
      updatedFrom: { stateId: "s1" },
    };
    await rowsOf(superuser, "update directory.workspaces set linear_actor_id = null");
    await deliver(body({ ...comment(issue, { id: ours }), actor: bot }));
    expect(await notesOf(id)).toEqual([]);
    await deliver(body(move));
    expect(await notesOf(id)).toEqual([]);
    await deliver(body({ ...move, actor: ann }));
    expect(await notesOf(id)).toHaveLength(1);
  });

  test("actions of a person whose API key we use become notes: their comments, their moves and a removal", async () => {
    const { id, issue } = await withIssue();
    await rowsOf(superuser, "update directory.workspaces set linear_actor_id = $1 where id = 'acme'", [ann.id]);
    await deliver(body(comment(issue)));
    const change = (action: string, type: string): string =>
      body({
        type: "Issue",
        action,
        data: { id: issue, state: { id: "s3", name: type, type } },
        updatedFrom: { stateId: "s1" },
      });
    await deliver(change("update", "started"));
    await deliver(change("update", "canceled"));
    await deliver(change("remove", "started"));
    expect((await notesOf(id)).map((note) => note.body)).toEqual([
      "Ann <b> commented in Linear: Looks good + ready = 🚀",
      "Ann <b> moved the issue in Linear to “canceled”. The request itself is unchanged.",
      "Ann <b> removed the issue in Linear. The request itself is unchanged.",
    ]);
    await rowsOf(superuser, "update directory.workspaces set linear_actor_id = null");
  });

  test("where a workspace names the Linear state, only a move to that one is taken for our own", async () => {
    const { id, issue } = await withIssue();
    await rowsOf(superuser, "update directory.workspaces set linear_actor_id = $1 where id = 'acme'", [ann.id]);
    await rowsOf(superuser, "select capacity.put_linear_state('acme', 'UNDER_REVIEW', 'in-review')");
    const moved = (state: string, type: string): string =>
      body({
        type: "Issue",
        action: "update",
        data: { id: issue, state: { id: state, name: state, type } },
        updatedFrom: { stateId: "s1" },
      });
    await deliver(moved("in-review", "unstarted"));
    expect(await notesOf(id)).toEqual([]);
    await deliver(moved("in-progress", "started"));
    expect(await notesOf(id)).toHaveLength(1);
    await rowsOf(superuser, "select capacity.put_linear_state('acme', 'UNDER_REVIEW', null)");
    await rowsOf(superuser, "update directory.workspaces set linear_actor_id = null");
  });

  test("before we know which user we are there, an issue moved to its request's own state is ignored", async () => {
    const { id, issue } = await withIssue();
    await rowsOf(superuser, "update directory.workspaces set linear_actor_id = null");
    const moved = (type: string): string =>
      body({
        type: "Issue",
        action: "update",
        actor: { id: "u-bot", type: "user", name: "Headroom" },
        data: { id: issue, state: { id: "s2", name: type, type } },
        updatedFrom: { stateId: "s1" },
      });
    await deliver(moved("started"));
    expect(await notesOf(id)).toEqual([]);
    await deliver(moved("canceled"));
    expect(await notesOf(id)).toHaveLength(1);
  });

  test("issues and things that are not ours leave nothing behind", async () => {
    const before = await slack.written();
    await deliver(body(comment(randomUUID())));
    await deliver(body({ type: "Project", action: "create", data: { id: "p" } }));
    await deliver(body({ type: "Issue", action: "create", data: {} }));
    expect(await slack.written()).toEqual(before);
  });

  test("text of any length and kind makes one note", async () => {
    const { id, issue } = await withIssue();
    await deliver(
      body({ ...comment(issue, { body: `${"x".repeat(10_000)}\u202e\u001b[31m` }), actor: { name: "\n\t" } }),
    );
    const [note] = await notesOf(id);
    expect(note?.body).toMatch(/^Somebody commented in Linear: x+…$/);
    await deliver(body(comment(issue, { body: "  " })));
    expect(await notesOf(id)).toHaveLength(1);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["under another secret", () => deliver(valid(), { "linear-signature": signatureOf("x", "another") })],
    ["without one", () => deliver(valid(), {})],
    ["garbled", () => deliver(valid(), { "linear-signature": "zz" })],
    ["of another body", () => deliver(`${valid()} `, { "linear-signature": signatureOf(valid()) })],
    ["two minutes old", () => deliver(body({ webhookTimestamp: Date.now() - 120_000 }))],
    ["two minutes ahead", () => deliver(body({ webhookTimestamp: Date.now() + 120_000 }))],
    ["without a time", () => deliver(body({ webhookTimestamp: undefined }))],
    ["with an invalid time", () => deliver(body({ webhookTimestamp: "now" }))],
  ])("a signature %s is refused, and nothing is written", async (_what, work) => {
    const before = await slack.written();
    expect(await codeOf(work())).toBe("bad_signature");
    expect(await slack.written()).toEqual(before);
  });

  test.each(["[]", "nonsense", "null", '"x"'])("signed, but not an object: %s", async (text) => {
    expect(await codeOf(deliver(text))).toBe("invalid_input");
  });
});
