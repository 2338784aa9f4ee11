/**
 * Everything outside Headroom in a seeded run: banks settle, people work in Stripe's dashboard, runs of workflows report, operators
 * decide.
 */
import { sqlStateOf } from "../../../src/db/errors.ts";
import type { Random } from "../kit/random.ts";
import { doomedPrice } from "./directory.ts";
import type { PaymentsStage } from "./stage.ts";
import type { Run } from "./works.ts";

export class Outside {
  readonly #stage: PaymentsStage;
  readonly #random: Random;
  readonly #count: (what: string) => void;
  /** Runs before this one have reported. */
  #heard = 0;
  #again: Run[] = [];
  /** Runs that stay silent for long. */
  #silent: Run[] = [];

  constructor(stage: PaymentsStage, random: Random, count: (what: string) => void) {
    this.#stage = stage;
    this.#random = random;
    this.#count = count;
  }

  /** Banks, and people in the dashboard. `all`: everything that can be settled is; some disputes still stay open. */
  async bank(all = false): Promise<void> {
    const { stripe } = this.#stage;
    const random = this.#random;
    const open = await stripe.ask("open");
    const isDue = (chance: number): boolean => all || random.chance(chance);
    for (const id of open.processing)
      if (isDue(0.4)) await stripe.ask("settle", id, random.chance(0.75) ? "succeeded" : "failed");
    for (const id of open.pendingRefunds)
      if (isDue(0.3)) await stripe.ask("settleRefund", id, all || random.chance(0.85) ? "succeeded" : "failed");
    for (const id of open.disputes) {
      if (!random.chance(all ? 0.8 : 0.2)) continue;
      if (!all && random.chance(0.3)) await stripe.ask("advanceDispute", id);
      else await stripe.ask("closeDispute", id, random.chance(0.5) ? "won" : "lost");
    }
    if (all) return;
    for (const id of open.doomedRefunds) if (random.chance(0.3)) await stripe.ask("settleRefund", id, "failed");
    const payment = open.payments[random.between(0, Math.max(0, open.payments.length - 1))];
    const subscription = open.subscriptions[random.between(0, Math.max(0, open.subscriptions.length - 1))];
    if (payment !== undefined) await this.#dashboard(payment);
    if (subscription !== undefined && random.chance(0.3)) {
      if (random.chance(0.2)) await stripe.ask("cancelOutside", subscription);
      else await stripe.ask("renew", subscription, random.chance(0.8) ? "succeeded" : "failed");
    }
  }

  async #dashboard(payment: string): Promise<void> {
    const { stripe } = this.#stage;
    const random = this.#random;
    const act = random.weighted([
      ["nothing", 5],
      ["part", 2],
      ["all", 1],
      ["dispute", 1],
      ["inquiry", 0.5],
      ["person", 1],
    ] as const);
    if (act === "nothing") return;
    this.#count(`outside: ${act}`);
    if (act === "part") await stripe.ask("refundOutside", payment, 0.1 + random.next() * 0.5);
    else if (act === "all") await stripe.ask("refundOutside", payment, 1);
    else if (act === "person") await this.#refundByPerson(payment);
    else await stripe.ask("dispute", payment, act === "inquiry");
  }

  async #refundByPerson(payment: string): Promise<void> {
    await this.#tolerantly(
      this.#stage.rows(
        "select public.refund_payment(p.id::text, 'asked for it', null, 'otto') from billing.payments p where p.payment_intent = $1",
        [payment],
      ),
    );
  }

  /** Runs report how they ended; operators give up on those that failed. `all`: everything ends. */
  async work(all = false): Promise<void> {
    const random = this.#random;
    const fresh = this.#stage.works.runs.slice(this.#heard);
    this.#heard += fresh.length;
    const due = [...this.#again.splice(0), ...fresh, ...(all ? this.#silent.splice(0) : [])];
    const lanes = Array.from({ length: 4 }, async () => {
      for (let run = due.pop(); run !== undefined; run = due.pop()) await this.#report(run, all, random);
    });
    const ended = await Promise.allSettled(lanes);
    // If the database was lost, the rest has not been reported.
    this.#again.push(...due);
    for (const each of ended) if (each.status === "rejected") throw each.reason;
    await this.#giveUp(all);
  }

  async #report(run: Run, all: boolean, random: Random): Promise<void> {
    const fails = !all && run.task === "provision" && random.chance(0.1);
    if (!all && random.chance(0.03)) {
      this.#silent.push(run);
      return;
    }
    try {
      const isHeard = await this.#stage.report(run, fails ? "failed" : "succeeded");
      if (!isHeard) this.#again.push(run);
      else if (random.chance(0.03)) await this.#stage.report(run, fails ? "failed" : "succeeded");
    } catch (error) {
      // The run retries, as the script does.
      this.#again.push(run);
      throw error;
    }
  }

  /** Jobs that failed wait for a person, who gives up or asks for another attempt. A few are given up before they have begun. */
  async #giveUp(all: boolean): Promise<void> {
    const jobs = await this.#stage.rows<{ id: string; state: string }>(
      `select id, state from provisioning.jobs
        where state = 'failed' and cleanup <> 'under_way' or $1 and state in ('queued', 'provisioning') and created_at < now() - interval '20 seconds'
           or state = 'queued' and created_at < now() - interval '15 seconds' and hashtext(id::text) % 8 = 0 limit 20`,
      [all],
    );
    for (const { id, state } of jobs) {
      const retries = !all && state === "failed" && this.#random.chance(0.3);
      this.#count(retries ? "operator: another attempt" : "operator: given up");
      await this.#tolerantly(
        retries
          ? this.#stage.rows("select public.retry_provisioning_job($1, 'again', 'rita')", [id])
          : this.#stage.rows("select public.fail_provisioning_job($1, 'not possible', 'otto')", [id]),
      );
    }
  }

  /** The price was a mistake: its offers can no longer be paid, and there is a new price. */
  async withdraw(): Promise<void> {
    this.#count("operator: price withdrawn");
    await this.#stage.rows(
      `select billing.withdraw_price(p.id, 'a mistake', 'otto') from billing.prices p where p.size = $1 and p.withdrawn_at is null`,
      [doomedPrice.size],
    );
    const next = { ...doomedPrice, unit_amount: doomedPrice.unit_amount + this.#random.between(1, 500) };
    await this.#stage.rows("select billing.put_price('acme', $1, 'otto')", [JSON.stringify(next)]);
  }

  /** "Too late" and a lost race are normal answers. */
  async #tolerantly(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      if (sqlStateOf(error)?.startsWith("PT4") !== true) throw error;
    }
  }
}
