/** The walks: each prepares what it needs, and then performs one user action. */
import type { Stage } from "./stage.ts";

export interface Walk {
  readonly name: string;
  /** Prepares the walk; returns the request that it is about. */
  arrange(stage: Stage): Promise<string>;
  /** The counted action. */
  walk(stage: Stage, request: string): Promise<unknown>;
}

const nothing = async (): Promise<string> => "";
const waiting = async (stage: Stage): Promise<string> => stage.nextRequest();

const rpc = "/rest/v1/rpc/apply_capacity_event";
const view = "/rest/v1/capacity_requests";

const approval = (request: string, event: string, memberId: string): object => ({
  p_request_id: request,
  p_event_type: event,
  p_actor_type: "user",
  p_actor_id: memberId,
});

const approveInSql = "select id from public.apply_capacity_event($1, 'COMMERCIAL_APPROVED', 'user', 'bob')";

export const WALKS: readonly Walk[] = [
  {
    name: "/capacity create in Slack",
    arrange: nothing,
    async walk(stage) {
      const answer = await stage.slack("create 32XL x4 us-east-1 for Acme owner bob group infra", "U0ANN");
      if (!/CR-\d{4}-\d{6}/.test(answer)) throw new Error(`nothing was created: ${answer}`);
    },
  },
  {
    name: "GET of one request, as a member",
    arrange: async () => "CR-2000-000001",
    walk: (stage, request) => listed(stage, `${view}?id=eq.${request}`, 1),
  },
  {
    name: "GET of 50 requests, as a member",
    arrange: nothing,
    walk: (stage) => listed(stage, `${view}?order=created_at.desc&limit=50`, 50),
  },
  {
    name: "approval by a service key",
    arrange: waiting,
    walk: (stage, request) => stage.http("service", "POST", rpc, approval(request, "COMMERCIAL_APPROVED", "bob")),
  },
  {
    name: "approval by a member",
    arrange: waiting,
    walk: (stage, request) =>
      stage.http({ member: "bob" }, "POST", rpc, approval(request, "COMMERCIAL_APPROVED", "bob")),
  },
  {
    name: "approval by a login of SQL",
    arrange: waiting,
    walk: (stage, request) => stage.sql.query({ name: "approve", text: approveInSql, values: [request] }),
  },
  {
    name: "second approval, which asks the customer",
    async arrange(stage) {
      const request = stage.nextRequest();
      await stage.sql.query(approveInSql, [request]);
      return request;
    },
    async walk(stage, request) {
      const answer = await stage.http("service", "POST", rpc, approval(request, "TECH_REVIEW_APPROVED", "ida"));
      if (!JSON.stringify(answer).includes("CUSTOMER_CONFIRMATION_REQUIRED")) throw new Error("nobody was asked");
    },
  },
];

async function listed(stage: Stage, path: string, wanted: number): Promise<void> {
  const rows = await stage.http({ member: "ida" }, "GET", path);
  if (!Array.isArray(rows) || rows.length !== wanted) throw new Error(`${path} did not answer with ${wanted} requests`);
}
