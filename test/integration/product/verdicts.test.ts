/**
 * A verdict is what the action says: for every member, every request of an installation and every action on it, `capacity_verdicts` is
 * compared with the action itself, carried out in the same transaction and rolled back.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { enter, memberSession } from "../capacity/gateway.ts";
import { rowsOf } from "../capacity/harness.ts";
import { POSTGRES_VERSIONS, type TestClient } from "../../helpers/database.ts";
import { startInstallation } from "./installation.ts";

interface Verdict {
  readonly request_id: string;
  readonly version: number | null;
  readonly action: string | null;
  readonly target_id: string | null;
  readonly allowed: boolean;
  readonly repeated: boolean;
  readonly decided_by: string | null;
  readonly code: string | null;
  readonly reason: string | null;
  readonly hint: string | null;
  readonly rule: string | null;
  readonly others: readonly { readonly id: string; readonly name: string }[];
}

const decide = (event: string, payload = "{}"): string =>
  `decide_capacity_request($1, '${event}', p_payload => '${payload}')`;
const because = '{"reason": "Because."}';

/** What each action calls; $1 is what it is about: the request, a job or a payment. */
const calls: Readonly<Record<string, string>> = {
  approve_commercial: decide("COMMERCIAL_APPROVED"),
  reject_commercial: decide("COMMERCIAL_REJECTED", because),
  approve_technical: decide("TECH_REVIEW_APPROVED"),
  reject_technical: decide("TECH_REVIEW_REJECTED", because),
  confirm: decide("CUSTOMER_CONFIRMED"),
  decline: decide("CUSTOMER_DECLINED"),
  cancel: decide("CANCEL_APPROVED", because),
  nudge: "nudge_capacity_request($1)",
  note: "note_capacity_request($1, 'A note.')",
  send_link: "send_confirmation_link($1)",
  retry: "retry_provisioning_job($1, 'Because.')",
  complete: "complete_provisioning_job($1, 'Because.')",
  fail: "fail_provisioning_job($1, 'Because.')",
  clean: "clean_provisioning_job($1, 'Because.')",
  refund: "refund_payment($1, 'Because.')",
  end_subscription: "end_subscription($1, 'Because.')",
};

const codeOf = (error: unknown): string =>
  /^[a-z_]+/.exec((error as { detail?: string }).detail ?? "")?.[0] ?? String(error);

const verdictsOf = (
  client: TestClient,
  ids: readonly string[],
  actions: readonly string[] | null = null,
): Promise<Verdict[]> => rowsOf<Verdict>(client, "select * from capacity_verdicts($1, $2)", [ids, actions]);

/** What the member is told about one action of a request, in short. */
async function told(client: TestClient, id: string, action: string): Promise<Partial<Verdict>> {
  const [verdict] = await verdictsOf(client, [id], [action]);
  const { allowed, repeated, decided_by, code, others } = verdict!;
  return {
    allowed,
    repeated,
    decided_by,
    code,
    others: others.map((person) => ({ id: person.id, name: person.name })),
  };
}

describe.each(POSTGRES_VERSIONS)("verdicts on PostgreSQL %i", async (version) => {
  const installation = await startInstallation(version);
  const { superuser } = installation.money;
  let members: readonly string[];
  let requests: readonly string[];

  beforeAll(async () => {
    await installation.make();
    members = (
      await rowsOf<{ id: string }>(
        superuser,
        "select id from directory.members where workspace_id = 'acme' and active order by id",
      )
    ).map(({ id }) => id);
    requests = (
      await rowsOf<{ id: string }>(
        superuser,
        "select id from capacity.requests where workspace_id = 'acme' order by id limit 40",
      )
    ).map(({ id }) => id);
  });

  /** Runs in a transaction of the member's session, and rolls it back. */
  async function as<T>(member: string, work: (client: TestClient) => Promise<T>): Promise<T> {
    const client = await installation.money.db.as("authenticator").connect();
    try {
      await client.query("begin");
      await enter(client, memberSession(member));
      return await work(client);
    } finally {
      await client.end();
    }
  }

  /** Compares each verdict of a member with the action, which is rolled back; returns what was seen, and adds where they differ to `wrong`. */
  async function compare(client: TestClient, member: string, wrong: string[]): Promise<string[]> {
    const seen: string[] = [];
    for (const verdict of await verdictsOf(client, requests)) {
      if (verdict.action === null) continue;
      await client.query("savepoint beforehand");
      const refused = await client
        .query(`select ${calls[verdict.action]}`, [verdict.target_id ?? verdict.request_id])
        .then(
          () => null,
          (error: unknown) => `${codeOf(error)}: ${(error as Error).message}`,
        );
      await client.query("rollback to beforehand");
      const passes = verdict.allowed || verdict.repeated;
      const said = passes ? null : `${verdict.code}: ${verdict.reason}`;
      if (said !== refused) wrong.push(`${member} ${verdict.request_id} ${verdict.action}: ${said} but ${refused}`);
      seen.push(`${verdict.action} ${passes ? "allowed" : verdict.code}`);
    }
    return seen;
  }

  test("agree with the action, for every member, request and action", async () => {
    const seen = new Set<string>();
    const wrong: string[] = [];
    for (const member of members) {
      for (const one of await as(member, (client) => compare(client, member, wrong))) seen.add(one);
    }
    expect(wrong).toEqual([]);
    // Each action was seen allowed and refused; only a twenty-first note is refused.
    for (const action of Object.keys(calls)) {
      expect(seen, action).toContain(`${action} allowed`);
      if (action !== "note")
        expect([...seen].filter((one) => one.startsWith(`${action} `)).length, action).toBeGreaterThan(1);
    }
  });

  test("agree with the action for members who did as much as they may within the hour", async () => {
    const wrong: string[] = [];
    await superuser.query("update directory.workspaces set acts_per_hour = 1 where id = 'acme'");
    await superuser.query(
      `insert into capacity.acts (workspace_id, account, at)
         select workspace_id, id, clock_timestamp() from directory.members where workspace_id = 'acme'`,
    );
    try {
      const seen: string[] = [];
      for (const member of members) seen.push(...(await as(member, (client) => compare(client, member, wrong))));
      expect(wrong).toEqual([]);
      expect(seen).toContain("note too_soon");
    } finally {
      await superuser.query("update directory.workspaces set acts_per_hour = default where id = 'acme'");
    }
  });

  test("name the rule, and who can instead", async () => {
    const { review, offered } = installation.things();
    await as("rita", async (client) => {
      expect(await verdictsOf(client, [review], ["approve_commercial", "approve_technical", "cancel"])).toMatchObject([
        {
          request_id: review,
          action: "approve_commercial",
          allowed: false,
          code: "not_allowed",
          reason: "You cannot review your own request.",
          rule: 'The rule "of-commercial" names Cora as the commercial owner.',
          others: [{ id: "cora", name: "Cora", reason: "owner" }],
        },
        { action: "approve_technical", allowed: false, others: [{ id: "rob" }, { id: "tess" }, { id: "tim" }] },
        { action: "cancel", allowed: true, code: null, others: [{ id: "ada", reason: "admin" }] },
      ]);
      // Nobody can do what the state does not take.
      expect(await told(client, offered, "approve_technical")).toMatchObject({ repeated: true, others: [] });
      expect(await told(client, review, "confirm")).toMatchObject({ allowed: false, others: [] });
    });
    await as("cora", async (client) => {
      expect(await told(client, offered, "confirm")).toMatchObject({ code: "payment_due" });
      expect(await told(client, review, "approve_commercial")).toEqual({
        allowed: true,
        repeated: false,
        decided_by: null,
        code: null,
        others: [],
      });
      await client.query("select decide_capacity_request($1, 'COMMERCIAL_APPROVED')", [review]);
      expect(await told(client, review, "approve_commercial")).toMatchObject({
        repeated: true,
        decided_by: "cora",
        others: [],
      });
    });
  });

  test("follow what limits a member", async () => {
    const { review } = installation.things();
    await as("rita", async (client) => {
      await client.query("select note_capacity_request($1, 'Note ' || n) from generate_series(1, 20) n", [review]);
      expect(await told(client, review, "note")).toMatchObject({ allowed: false, code: "too_soon" });
      await client.query("select nudge_capacity_request($1)", [review]);
      expect(await told(client, review, "nudge")).toMatchObject({ allowed: false, code: "too_soon" });
      expect(await told(client, review, "cancel")).toMatchObject({ allowed: true });
    });
  });

  test("tell nothing of a request that the caller may not see", async () => {
    const { review } = installation.things();
    await as("otto", async (client) => {
      const [one, other] = await verdictsOf(client, [review, "CR-2026-999999"]);
      expect(one).toMatchObject({ action: null, version: null, allowed: false, code: "not_found", others: [] });
      expect({ ...one, detail: review, request_id: review }).toEqual({ ...other, detail: review, request_id: review });
    });
  });

  test("answer an action once that is named many times, and none if none is named", async () => {
    const { review } = installation.things();
    await as("rita", async (client) => {
      expect(await verdictsOf(client, [review, review], ["nudge", "note", "nudge"])).toMatchObject([
        { action: "nudge" },
        { action: "note" },
      ]);
      expect(await verdictsOf(client, [review], [])).toEqual([]);
    });
  });

  test.each([
    ["no request", [], null],
    ["too many", Array.from({ length: 101 }, (_, n) => `CR-2026-${String(n).padStart(6, "0")}`), null],
    ["a request that is null", [null], null],
    ["an action that does not exist", ["CR-2026-000001"], ["explode"]],
    ["an action that is null", ["CR-2026-000001"], [null]],
  ])("refuse %s", async (_, ids, actions) => {
    await as("rita", async (client) => {
      const asked = client.query("select * from capacity_verdicts($1, $2)", [ids, actions]);
      expect(await asked.then(() => null, codeOf)).toBe("invalid_input");
    });
  });
});
