/**
 * The same story through each surface alone: Slack's buttons, supabase-js, curl, the command line. The log is the same, except for the
 * entrance that each event names.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { describe, expect, test } from "vitest";
import { headroom } from "../cli/harness.ts";
import { memberToken } from "../http/harness.ts";
import { until } from "../outbox/relay/stage.ts";
import { startProductStage } from "./harness.ts";

const stage = await startProductStage();
const { db, gateway, sandbox } = stage;
const channel = sandbox.sampleData.slackChannels[0]?.id ?? "";
const slackIdOf = (memberId: string): string =>
  sandbox.sampleData.people.find((person) => person.memberId === memberId)?.slackUserId ?? "";

interface LoggedEvent {
  readonly event_type: string;
  readonly actor_type: string;
  readonly actor_id: string;
  readonly state_before: string;
  readonly state_after: string;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly effects: readonly string[];
  readonly via: string;
}

/** A request's log without what differs from one request to the next: its ids. */
async function logOf(id: string): Promise<LoggedEvent[]> {
  const { rows } = await db.superuser.pool.query<LoggedEvent>(
    `select event_type, actor_type, actor_id, state_before, state_after, effects, via,
            payload - '{idempotency_key,confirmation_token_id,customer_hash}'::text[] as payload
       from capacity.events where request_id = $1 order by seq`,
    [id],
  );
  return rows;
}

const story = ["REQUEST_SUBMITTED", "COMMERCIAL_APPROVED", "TECH_REVIEW_APPROVED", "CUSTOMER_CONFIRMED"];

async function newestRequest(after: readonly string[]): Promise<string> {
  const found = await until(
    () =>
      db.superuser.pool.query<{ id: string }>(
        "select id from capacity.requests order by created_at desc, id desc limit 1",
      ),
    ({ rows }) => rows[0] !== undefined && !after.includes(rows[0].id),
    "the request to be made",
  );
  return found.rows[0]?.id ?? "";
}

async function allRequests(): Promise<string[]> {
  const { rows } = await db.superuser.pool.query<{ id: string }>("select id from capacity.requests");
  return rows.map(({ id }) => id);
}

/** The root message of a request, once it shows the button. */
async function rootWith(id: string, actionId: string): Promise<string> {
  const found = await until(
    () => Promise.resolve(sandbox.slack.messages(channel).find((message) => isRootWith(message, id, actionId))),
    (message) => message !== undefined,
    `${actionId} on the root of ${id}`,
  );
  return found?.ts ?? "";
}

function isRootWith(message: { readonly blocks?: unknown }, id: string, actionId: string): boolean {
  const text = JSON.stringify(message.blocks ?? []);
  return text.includes(`"action_id":"${actionId}"`) && text.includes(`"value":"${id}"`);
}

async function bySlack(): Promise<string> {
  const before = await allRequests();
  const text = "create 32XL x4 us-east-1 for Acme days 90 cost 61500 owner @casey group infra email buyer@acme.example";
  expect(await sandbox.slack.command({ user: slackIdOf("riley"), text })).toMatchObject({ kind: "acknowledged" });
  const id = await newestRequest(before);
  for (const [actionId, member] of [
    ["commercial_approve", "casey"],
    ["tech_approve", "ines"],
    ["customer_confirm", "casey"],
  ] as const) {
    const ts = await rootWith(id, actionId);
    expect(await sandbox.slack.click({ user: slackIdOf(member), channel, ts, actionId })).toMatchObject({
      kind: "acknowledged",
    });
  }
  return id;
}

const terms = {
  p_requester_user_id: "riley",
  p_commercial_owner_user_id: "casey",
  p_infra_owner_group: "infra",
  p_customer_ref: { name: "Acme", email: "buyer@acme.example" },
  p_requested_size: "32XL",
  p_quantity: 4,
  p_region: "us-east-1",
  p_needed_by_date: null,
  p_expected_duration_days: 90,
  p_estimated_monthly_cost_usd: 61_500,
};

async function clientOf(memberId: string): Promise<SupabaseClient> {
  const token = await memberToken(memberId, "default");
  return createClient(gateway.url, gateway.keys.anonKey, { accessToken: () => Promise.resolve(token) });
}

async function bySupabase(): Promise<string> {
  const created = await (await clientOf("riley")).rpc("create_capacity_request", terms);
  expect(created.error).toBeNull();
  const { id } = created.data as { id: string };
  for (const [event, member] of [
    ["COMMERCIAL_APPROVED", "casey"],
    ["TECH_REVIEW_APPROVED", "ines"],
    ["CUSTOMER_CONFIRMED", "casey"],
  ] as const) {
    const client = await clientOf(member);
    const { error } = await client.rpc("apply_capacity_event", {
      p_request_id: id,
      p_event_type: event,
      p_actor_type: "user",
      p_actor_id: member,
      p_payload: {},
    });
    expect(error).toBeNull();
  }
  return id;
}

/** As the workflow's own document shows it: any client's API key, and a machine's bearer token. */
async function curl(name: string, body: unknown): Promise<{ readonly id: string }> {
  const url = `${gateway.url}/rest/v1/rpc/${name}`;
  const headers = {
    "Content-Type": "application/json",
    apikey: gateway.keys.anonKey,
    Authorization: `Bearer ${gateway.keys.serviceKey}`,
  };
  const given = Object.entries(headers).flatMap(([header, value]) => ["-H", `${header}: ${value}`]);
  const words = ["-sS", "--fail-with-body", "-X", "POST", url, ...given, "-d", JSON.stringify(body)];
  return JSON.parse(await answerOf(words, () => fetch(url, { method: "POST", headers, body: JSON.stringify(body) })));
}

/** What curl prints; on a machine without curl, the result of the same request. */
async function answerOf(words: readonly string[], instead: () => Promise<Response>): Promise<string> {
  try {
    return (await promisify(execFile)("curl", words)).stdout;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    const answer = await instead();
    expect(answer.status).toBe(200);
    return answer.text();
  }
}

async function byCurl(): Promise<string> {
  const { id } = await curl("create_capacity_request", terms);
  for (const [event, actor] of [
    ["COMMERCIAL_APPROVED", slackIdOf("casey")],
    ["TECH_REVIEW_APPROVED", slackIdOf("ines")],
    ["CUSTOMER_CONFIRMED", slackIdOf("casey")],
  ] as const) {
    const body = { p_request_id: id, p_event_type: event, p_actor_type: "user", p_actor_id: actor, p_payload: {} };
    await curl("apply_capacity_event", body);
  }
  return id;
}

async function cli(...words: string[]): Promise<unknown> {
  const outcome = await headroom([...words, "--json"], { env: { DATABASE_URL: db.as("headroom_control").url } });
  expect([words, outcome.status, outcome.err]).toEqual([words, 0, ""]);
  return JSON.parse(outcome.out);
}

async function byCommandLine(): Promise<string> {
  const customer = JSON.stringify(terms.p_customer_ref);
  const asked = ["--size", "32XL", "--quantity", "4", "--region", "us-east-1", "--cost", "61500", "--days", "90"];
  const people = ["--as", "riley", "--owner", "casey", "--group", "infra", "--customer", customer];
  const { request } = (await cli("request", "create", ...people, ...asked)) as { request: { id: string } };
  await cli("request", "approve", request.id, "--as", "casey");
  await cli("request", "approve", request.id, "--as", slackIdOf("ines"));
  await cli("request", "confirm", request.id, "--as", "casey");
  return request.id;
}

describe("a request from its submission to its provisioning", { timeout: 120_000 }, () => {
  test("leaves the same log through every surface", async () => {
    const told = {
      slack: await logOf(await bySlack()),
      supabase: await logOf(await bySupabase()),
      curl: await logOf(await byCurl()),
      cli: await logOf(await byCommandLine()),
    };
    for (const [surface, log] of Object.entries(told)) {
      expect([surface, log.map((event) => event.event_type)]).toEqual([surface, story]);
      expect([surface, ...log.map(withoutEntrance)]).toEqual([surface, ...told.cli.map(withoutEntrance)]);
    }
    const entrances = Object.values(told).map((log) => [...new Set(log.map(({ via }) => via))]);
    expect(entrances).toEqual([["slack"], ["api"], ["service:key"], [expect.stringMatching(/^cli:/)]]);
  });

  test("is told to Slack in one thread, the root first, and the customer is asked by mail at most once", async () => {
    const id = await byCurl();
    const root = await until(
      () => Promise.resolve(sandbox.slack.messages(channel).find((message) => JSON.stringify(message).includes(id))),
      (message) => message !== undefined && JSON.stringify(message.blocks).includes("being provisioned"),
      "the root to show the provisioning",
    );
    await until(
      () => Promise.resolve(sandbox.slack.thread(channel, root?.ts ?? "")),
      (thread) => thread.length === story.length,
      "a reply for each later step",
      // A channel takes one message a second, and those of the other requests come first.
      40_000,
    );
    const mails = await until(
      () => Promise.resolve(sandbox.mail.list().filter(({ text }) => text?.includes(id) === true)),
      ([newest]) => newest?.subject.startsWith("Being provisioned") === true,
      "the mail that tells the customer the outcome",
    );
    // Whether the customer was still asked depends on which was faster, confirming or mailing.
    const earlier = mails.slice(1).map(({ subject }) => subject.replace(/:.*/, ""));
    expect([[], ["Please confirm"]]).toContainEqual(earlier);
  }, 70_000);
});

function withoutEntrance({ via: _via, ...event }: LoggedEvent): Omit<LoggedEvent, "via"> {
  return event;
}
