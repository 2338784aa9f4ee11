/**
 * The stage for payments: the kit's, with the sandbox's Stripe as a process that is never killed and a stand-in for runs of workflows.
 *
 * Owns: what customers, runs and time do. Does not own: when, nor the verdict (oracle.ts).
 */
import { createHmac, randomUUID } from "node:crypto";
import type { Client } from "pg";
import { startAsked, type AskedProcess } from "../kit/asked-process.ts";
import type { RelayTrap } from "../kit/relay-part.ts";
import type { ServerTrap } from "../kit/server-child.ts";
import { connectTo, layGround, Stage, urlAs, type Ground, type StageOptions } from "../kit/stage.ts";
import { callbackSecret, people, webhookSecret } from "./directory.ts";
import type { Acts } from "./stripe-child.ts";
import { startWorks, type Run, type Works } from "./works.ts";

export interface Wanted {
  readonly customer: string;
  readonly size: string;
  readonly quantity: number;
}

export interface Offer {
  readonly id: string;
  /** The token of the customer's link. */
  readonly token: string;
}

/** The server dies around an event of Stripe's of this type. */
interface ServerHow extends Pick<ServerTrap, "at"> {
  readonly type: string;
}

export class PaymentsStage extends Stage<ServerHow> {
  readonly stripe: AskedProcess<Acts>;
  readonly works: Works;
  /** Offers that were made to expire, and when they did. */
  readonly deadlines = new Map<string, Date>();
  readonly #strangers = new Set<Client>();

  private constructor(ground: Ground, works: Works, stripe: AskedProcess<Acts>) {
    super(ground);
    this.works = works;
    this.stripe = stripe;
  }

  static async open(options: StageOptions = {}): Promise<PaymentsStage> {
    await using undo = new AsyncDisposableStack();
    const ground = await layGround("payments", options, undo, (client, { url }) => client.query(people(url)));
    const works = await startWorks();
    undo.defer(() => works.close());
    const config = { headroomUrl: ground.front.url, webhookSecret };
    const stripe = await startAsked<Acts>(ground.codeDir, "payments/stripe-child.ts", config);
    undo.defer(() => stripe.close());
    const stage = new PaymentsStage(ground, works, stripe);
    undo.defer(async () => void (await Promise.allSettled([...stage.#strangers].map((client) => client.end()))));
    return await stage.putUp(undo);
  }

  protected override relayPart(trap?: RelayTrap) {
    return ["payments/relay-child.ts", { stripeUrl: this.stripe.url, worksUrl: this.works.url, trap }] as const;
  }

  protected override serverConfig(how?: ServerHow) {
    const trap = how && { holds: [`"type": "${how.type}"`], at: how.at };
    return { checkoutOrigin: new URL(this.stripe.url).origin, trap };
  }

  // --- requests and customers

  /** Requests that only wait for their customers. */
  async offer(wanted: readonly Wanted[]): Promise<Offer[]> {
    const [row] = await this.rows<{ offers: Offer[] }>("select chaos_offer($1) as offers", [JSON.stringify(wanted)]);
    return row?.offers ?? [];
  }

  async begin({ token }: Offer): Promise<string> {
    const [row] = await this.rows<{ id: string }>("select public.begin_checkout($1) ->> 'checkout_id' as id", [token]);
    return row?.id ?? "";
  }

  /** Like a browser, through the server; accepts any answer. */
  async beginByPage({ token }: Offer): Promise<number> {
    const body = new URLSearchParams({ decision: "pay" });
    const answer = await fetch(`${this.front.url}/confirm/${token}`, { method: "POST", body });
    await answer.arrayBuffer();
    return answer.status;
  }

  async decline({ token }: Offer): Promise<void> {
    await this.rows("select public.decide_by_token($1, 'decline')", [token]);
  }

  async cancel({ id }: Pick<Offer, "id">): Promise<void> {
    const apply = `select capacity.decide($1, 'CANCEL_APPROVED', row('user', 'rita', 'test')::capacity.actor, '{"reason": "because"}')`;
    await this.rows(apply, [id]);
  }

  /** Makes an offer expire, or all offers; the next sweep ends them. */
  async pastDeadline(id?: string): Promise<void> {
    const ended = await this.rows<{ id: string; deadline: Date }>(
      `update capacity.requests set next_deadline_at = now() - interval '1 second'
        where id = coalesce($1, id) and state = 'CUSTOMER_CONFIRMATION_REQUIRED' and next_deadline_at > now()
       returning id, next_deadline_at as deadline`,
      [id ?? null],
    );
    for (const each of ended) this.deadlines.set(each.id, each.deadline);
  }

  /** The open page expires soon, so that the next customer who wants to pay gets another. */
  async nearlyOver(requestId: string): Promise<void> {
    await this.rows(
      `update billing.checkouts set expires_at = now() + interval '1 minute' where request_id = $1 and state in ('asked', 'open')`,
      [requestId],
    );
  }

  /** A run reports how it ended, signed as the workflow's script signs. False if it was told to report again later. */
  async report(run: Run, signal: "succeeded" | "failed"): Promise<boolean> {
    const body = JSON.stringify({
      id: randomUUID(),
      workspace: "acme",
      job_id: run.jobId,
      task: run.task,
      attempt: run.attempt,
      run_id: run.id,
      run_attempt: 1,
      signal,
      ...(signal === "failed" ? { error: "on purpose" } : {}),
    });
    const stamp = String(Math.floor(Date.now() / 1000));
    const mac = createHmac("sha256", callbackSecret).update(`v1:${stamp}:${body}`).digest("hex");
    const headers = { "x-headroom-timestamp": stamp, "x-headroom-signature": `v1=${mac}` };
    const [answer] = await this.rows<{ code: string | null }>(
      `select public.handle_provisioning_callback($1) ->> 'code' as code
         from set_config('request.headers', $2, true) h where h is not null`,
      [body, JSON.stringify(headers)],
    );
    return answer?.code !== "too_soon";
  }

  // --- time

  /** The sweep checks all money that is not settled, as if hours had passed. */
  async hurryMoney(): Promise<void> {
    for (const table of ["checkouts", "payments", "refunds", "subscriptions"]) {
      const which = table === "subscriptions" ? "and kind = 'recurring'" : "";
      await this.rows(
        `update billing.${table} set next_look_at = now() where ctid = any (array(
           select ctid from billing.${table} where next_look_at > now() ${which} for update skip locked))`,
      );
    }
    await this.rows(
      "update provisioning.jobs set next_look_at = now() where id in (select id from provisioning.jobs for update skip locked)",
    );
    await this.rows("update capacity.expiry_holds set look_again_at = now()");
    await this.rows("delete from capacity.timer_failures");
  }

  /** Asks for each subscription what the sweep of the next minute would: it asks for one at most once a minute. */
  async askInNextMinute(): Promise<void> {
    await this.rows(
      `select billing.look(workspace_id, 'subscription', stripe_id, (extract(epoch from now()) / 60)::integer + 1)
         from billing.subscriptions where kind = 'recurring' and state not in ('ended', 'cancelled') and stripe_id is not null`,
    );
  }

  /** Moves abandoned calls further into the past than Stripe would work on one. */
  async ageDead(): Promise<void> {
    await this.inArchive(
      `update outbox.attempts set recorded_at = recorded_at - interval '10 minutes'
        where outbox_id in (select d.outbox_id from outbox.dead d) and recorded_at > now() - interval '6 minutes'`,
    );
  }

  /** Runs the timers until they find nothing more; returns the failures. */
  async sweep(maxRounds = 20): Promise<string[]> {
    const failed: string[] = [];
    for (let round = 0; round < maxRounds; round += 1) {
      const [swept] = await this.rows<{ failed: unknown[]; more: boolean }>(
        "select t -> 'failed' as failed, (t ->> 'more')::boolean as more from public.run_capacity_request_timers(400) t",
      );
      failed.push(...(swept?.failed ?? []).map((each) => JSON.stringify(each)));
      if (swept?.more !== true) break;
    }
    return failed;
  }

  /** A person with a separate login. The stage closes the connection when it ends. */
  async stranger(login: string): Promise<Client> {
    const client = await connectTo(urlAs(this.url, login));
    this.#strangers.add(client);
    client.once("end", () => this.#strangers.delete(client));
    return client;
  }
}
