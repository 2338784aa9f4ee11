/** The real supabase-js against our server: it creates, decides, reads, filters and counts, as it would on Supabase. */
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import { beforeAll, describe, expect, it } from "vitest";
import { startWorkflow } from "../../capacity/harness.ts";
import { memberToken, startTestGateway } from "../harness.ts";

const workflow = await startWorkflow(18);
const gateway = await startTestGateway(workflow.db);

const options = { auth: { persistSession: false, autoRefreshToken: false } } as const;

async function clientOf(memberId: string, workspaceId = "acme"): Promise<SupabaseClient> {
  return createClient(gateway.url, gateway.keys.anonKey, {
    ...options,
    accessToken: () => memberToken(memberId, workspaceId),
  });
}

const terms = {
  p_requester_user_id: "rita",
  p_commercial_owner_user_id: "cora",
  p_infra_owner_group: "infra",
  p_customer_ref: { org: "org_1", name: 'Initech "GmbH" 🚀 + 100%' },
  p_requested_size: "32XL",
  p_quantity: 4,
  p_region: "us-east-1",
  p_needed_by_date: "2027-01-31",
  p_expected_duration_days: 30,
  p_estimated_monthly_cost_usd: 500,
} as const;

interface Row {
  readonly id: string;
  readonly state: string;
  readonly version: number;
  readonly requested_size: string;
}

const [rita, cora, tess] = await Promise.all([clientOf("rita"), clientOf("cora"), clientOf("tess")]);
let id = "";

beforeAll(async () => {
  const created = await rita.rpc("create_capacity_request", terms).single<Row>();
  expect(created.error).toBeNull();
  id = created.data?.id ?? "";
});

describe("supabase-js with members' tokens", () => {
  it("takes a request from its creation to the point where the customer is asked", async () => {
    const { data: request } = await rita.rpc("create_capacity_request", terms).single<Row>();
    expect(request).toMatchObject({ state: "UNDER_REVIEW", version: 1 });
    const decide = { p_request_id: request?.id, p_event_type: "COMMERCIAL_APPROVED" };
    const approved = await cora.rpc("decide_capacity_request", decide);
    expect(approved).toMatchObject({ error: null, status: 200 });
    await tess.rpc("decide_capacity_request", { ...decide, p_event_type: "TECH_REVIEW_APPROVED" }).throwOnError();
    const { data } = await rita.rpc("get_capacity_request", { p_request_id: request?.id });
    expect(data).toMatchObject({ request: { state: "CUSTOMER_CONFIRMATION_REQUIRED", version: 3 } });
  });

  it("gets a refusal with its code, its sentence and the way out, and nothing is changed", async () => {
    const refused = await rita.rpc("decide_capacity_request", {
      p_request_id: id,
      p_event_type: "COMMERCIAL_APPROVED",
    });
    expect(refused).toMatchObject({ status: 403, data: null, error: { code: "PT403" } });
    expect(refused.error?.details).toMatch(/^not_allowed/);
    const { data } = await rita.rpc("get_capacity_request", { p_request_id: id });
    expect(data).toMatchObject({ request: { version: 1 } });
  });

  it("reads stable functions with GET", async () => {
    const { data, error } = await rita.rpc("get_capacity_request", { p_request_id: id }, { get: true });
    expect(error).toBeNull();
    expect(data).toMatchObject({ request: { id, state: "UNDER_REVIEW" } });
  });

  it("cannot write with GET", async () => {
    const refused = await rita.rpc("create_capacity_request", { ...terms, p_customer_ref: "{}" }, { get: true });
    expect(refused).toMatchObject({ status: 405, error: { code: "25006" } });
  });
});

describe("supabase-js on the views", () => {
  it("selects, filters and orders", async () => {
    const { data, error } = await rita
      .from("capacity_requests")
      .select("id, state, size:requested_size, who:customer_ref->>name")
      .eq("id", id)
      .in("state", ["UNDER_REVIEW", "PROVISIONING"])
      .gte("version", 1)
      .like("requested_size", "32*")
      .is("rejection_reason", null)
      .order("id", { ascending: false })
      .limit(5);
    expect(error).toBeNull();
    expect(data).toEqual([{ id, state: "UNDER_REVIEW", size: "32XL", who: 'Initech "GmbH" 🚀 + 100%' }]);
  });

  it("combines conditions with or, not and nested groups", async () => {
    const { data, error } = await rita
      .from("capacity_requests")
      .select("id")
      .or(`id.eq.nothing,and(id.eq.${id},version.lt.99)`)
      .not("state", "eq", "PROVISIONING");
    expect(error).toBeNull();
    expect(data).toEqual([{ id }]);
  });

  it("counts without reading, and with", async () => {
    const { count } = await rita.from("capacity_requests").select("*", { count: "exact", head: true });
    const all = await rita.from("capacity_requests").select("id", { count: "exact" });
    expect(count).toBe(all.data?.length);
    expect(all.count).toBe(count);
    // The planner's estimate would cover all workspaces.
    const planned = await rita.from("capacity_requests").select("id", { count: "planned", head: true });
    expect(planned.count).toBe(count);
  });

  it("reads page by page", async () => {
    await rita.rpc("create_capacity_request", terms).throwOnError();
    const first = await rita.from("capacity_requests").select("id", { count: "exact" }).order("id").range(0, 0);
    const second = await rita.from("capacity_requests").select("id").order("id").range(1, 1);
    expect(first.status).toBe(206);
    expect(first.data).toHaveLength(1);
    expect(second.data).toHaveLength(1);
    expect(second.data?.[0]?.id).not.toBe(first.data?.[0]?.id);
  });

  it("asks for exactly one row", async () => {
    const one = await rita.from("capacity_requests").select("id").eq("id", id).single();
    expect(one.data).toEqual({ id });
    const none = await rita.from("capacity_requests").select("id").eq("id", "nothing").single();
    expect(none.error).toMatchObject({ code: "PGRST116" });
    const maybe = await rita.from("capacity_requests").select("id").eq("id", "nothing").maybeSingle();
    expect(maybe).toMatchObject({ data: null, error: null });
  });

  it("shows nobody the requests of another workspace", async () => {
    const glen = await clientOf("glen", "globex");
    const { data, error } = await glen.from("capacity_requests").select("id");
    expect(error).toBeNull();
    expect(data).toEqual([]);
    const { error: refused } = await glen.rpc("get_capacity_request", { p_request_id: id });
    expect(refused).toMatchObject({ code: "PT404" });
  });

  it("refuses to write into a view", async () => {
    const refused = await rita.from("capacity_requests").update({ state: "PROVISIONING" }).eq("id", id);
    expect(refused).toMatchObject({ status: 405, error: { code: "PGRST117" } });
  });
});

describe("keys", () => {
  it("with the anon key alone nothing is seen", async () => {
    const anon = createClient(gateway.url, gateway.keys.anonKey, options);
    const { error, status } = await anon.from("capacity_requests").select("id");
    expect(status).toBe(401);
    expect(error).toMatchObject({ code: "42501" });
  });

  it("with the service key a machine acts for a member", async () => {
    const service = createClient(gateway.url, gateway.keys.serviceKey, options);
    const created = await service.rpc("create_capacity_request", { ...terms, p_workspace_id: "acme" }).single<Row>();
    expect(created.data).toMatchObject({ state: "UNDER_REVIEW" });
  });

  it("without a key nothing is answered", async () => {
    const response = await fetch(`${gateway.url}/rest/v1/capacity_requests`);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ message: "No API key found in request" });
  });

  it("with a key of somebody else's nothing is answered", async () => {
    const stranger = createClient(gateway.url, "not-a-key", options);
    const { error } = await stranger.from("capacity_requests").select("id");
    expect(error?.message).toBe("Invalid API key");
  });
});

describe("a plain HTTP client", () => {
  /** As in the product's first description: the anon key as apikey, the service key as bearer. */
  it("approves for a member, named by their Slack id", async () => {
    const request = await workflow.create();
    const response = await fetch(`${gateway.url}/rest/v1/rpc/apply_capacity_event`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        apikey: gateway.keys.anonKey,
        Authorization: `Bearer ${gateway.keys.serviceKey}`,
      },
      body: `{
        "p_request_id": "${request.id}",
        "p_event_type": "COMMERCIAL_APPROVED",
        "p_actor_type": "user",
        "p_actor_id": "U0CORA",
        "p_payload": {}
      }`,
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: request.id, version: 2, commercial_approved_by: "cora" });
    expect(await workflow.events(request.id)).toMatchObject([
      { event_type: "REQUEST_SUBMITTED" },
      { actor_id: "cora" },
    ]);
  });

  it("keeps every digit of a number", async () => {
    const response = await fetch(`${gateway.url}/rest/v1/rpc/create_capacity_request`, {
      method: "POST",
      headers: { "content-type": "application/json", apikey: gateway.keys.serviceKey },
      body: JSON.stringify({ ...terms, p_workspace_id: "acme", p_customer_ref: { n: 0 } })
        .replace('"n":0', '"n":12345678901234567890.10')
        .replace("500", "500.10"),
    });
    const text = await response.text();
    expect(response.status).toBe(200);
    expect(text).toContain("12345678901234567890.10");
    expect(text).toContain('"estimated_monthly_cost_usd":500.10');
  });
});
