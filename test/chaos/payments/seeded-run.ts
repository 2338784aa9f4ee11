/**
 * `npm run chaos -- --payments`: customers pay, Stripe and its events misbehave, parts are killed, people and banks do what they do, all at
 * random and from one seed. Then the faults stop, everything comes to rest, and the oracle judges.
 */
import { isRetryableConnectionError, sqlStateOf, toHeadroomError } from "../../../src/db/errors.ts";
import { pause } from "../../../src/db/wait/pause.ts";
import { Findings } from "../findings.ts";
import { PartFailed } from "../provisioning/part-process.ts";
import type { SeededHooks, SeededResult } from "../provisioning/seeded-run.ts";
import { Random } from "../random.ts";
import type { Range } from "../settings.ts";
import { Crowd } from "./crowd.ts";
import { judge } from "./oracle.ts";
import { Hostile } from "./hostile.ts";
import { Outside } from "./outside.ts";
import { comeToRest, countStuck } from "./rest.ts";
import { calmDelivery, deliveries, weather, type PaymentsSettings } from "./settings.ts";
import { PaymentsStage } from "./stage.ts";

export async function runPayments(settings: PaymentsSettings, hooks: SeededHooks): Promise<SeededResult> {
  const startedAtMs = performance.now();
  const stage = await PaymentsStage.open({ relays: settings.relays });
  try {
    const run = new PaymentsRun(stage, settings, hooks);
    await run.faults();
    await run.rest();
    hooks.onProgress?.("checking");
    await judge(stage, run.findings);
    const counts = await run.counted();
    const seconds = (performance.now() - startedAtMs) / 1_000;
    return { ok: !run.findings.any, seed: settings.seed, seconds, counts, findings: run.findings.list };
  } finally {
    await stage.close();
  }
}

const setSize = 20;

class PaymentsRun {
  readonly findings = new Findings();
  readonly #stage: PaymentsStage;
  readonly #settings: PaymentsSettings;
  readonly #hooks: SeededHooks;
  readonly #random: Random;
  readonly #did = new Map<string, number>();
  readonly #crowd: Crowd;
  readonly #outside: Outside;
  readonly #hostile: Hostile;
  #paid = 0;

  constructor(stage: PaymentsStage, settings: PaymentsSettings, hooks: SeededHooks) {
    this.#stage = stage;
    this.#settings = settings;
    this.#hooks = hooks;
    this.#random = new Random(settings.seed);
    const count = (what: string): void => this.#count(what);
    this.#crowd = new Crowd(stage, this.#random.fork(), count);
    this.#outside = new Outside(stage, this.#random.fork(), count);
    this.#hostile = new Hostile(stage, this.#random.fork(), this.findings, count);
  }

  async faults(): Promise<void> {
    const { faultsMs, killEveryMs, count } = this.#settings;
    const stage = this.#stage;
    await stage.startWhatIsGone();
    for (const fault of weather)
      await stage.stripe.ask("addFault", { ...fault, seed: this.#random.between(1, 2 ** 31) });
    const chance = this.#random.fork();
    stage.works.setFaults(0.05, () => chance.next());
    this.#hooks.onProgress?.("the stage is up");
    const enough = new AbortController();
    const over = AbortSignal.any([this.#hooks.signal, AbortSignal.timeout(faultsMs), enough.signal]);
    await Promise.all([
      this.#again(over, [50, 150], () => this.#invite()),
      this.#again(over, [50, 150], () => this.#crowd.go(16)),
      this.#again(over, [100, 200], () => this.#crowd.pay()),
      this.#again(over, [200, 400], () => this.#outside.work()),
      this.#again(over, [500, 1_000], () => this.#outside.bank()),
      this.#again(over, [200, 600], () => this.#hostile.act()),
      this.#hostile.holdLocks(over),
      this.#again(over, [15_000, 25_000], () => this.#outside.withdraw()),
      this.#again(over, [600, 1_200], () => this.#sweep()),
      this.#again(over, [2_000, 4_000], (random) => this.#hurry(random)),
      this.#again(over, [2_000, 5_000], (random) => this.#deliver(random)),
      this.#again(over, killEveryMs, (random) => this.#kill(random)),
      // Somebody who starts again what has died, as a supervisor does.
      this.#again(over, [300, 600], () => stage.startWhatIsGone()),
      this.#again(over, [500, 500], async () => {
        this.#paid = (await stage.stripe.ask("open")).completed;
        if (this.#paid >= count) enough.abort();
      }),
      this.#report(over, "faults"),
    ]);
    this.#hooks.signal.throwIfAborted();
  }

  /** The faults are over: what waits is carried out, what is unknown is asked for, and nothing may be left. */
  async rest(): Promise<void> {
    const stage = this.#stage;
    const deadline = AbortSignal.timeout(this.#settings.restMs);
    const over = AbortSignal.any([deadline, this.#hooks.signal]);
    await stage.stripe.ask("clearFaults");
    stage.works.setFaults(0, () => 1);
    await stage.stripe.ask("deliver", calmDelivery);
    await this.#patiently(() => stage.startWhatIsGone());
    // Without traps.
    for (let place = 0; place < stage.relayCount; place += 1) await stage.startRelay(undefined, place);
    await stage.startServer();
    await stage.stripe.ask("release", "shuffled");
    await stage.stripe.ask("forgetKeys");
    await stage.rows("select billing.reconcile_payments('otto', now() - interval '1 day')");
    const done = new AbortController();
    const note = (failed: string): void => this.#noteFailed(failed);
    await Promise.all([
      comeToRest(stage, this.#outside, over, note).finally(() => done.abort()),
      this.#report(AbortSignal.any([over, done.signal]), "rest"),
    ]);
    this.#hooks.signal.throwIfAborted();
  }

  async counted(): Promise<Record<string, number>> {
    const rows = await this.#stage.rows<{ what: string; n: number }>(
      `select 'requests ' || state as what, count(*)::integer as n from capacity.requests group by state
       union all select concat_ws(' ', 'payments', purpose, case when counts then 'counts' else 'does not count' end, refund_reason), count(*)
         from billing.payments group by 1
       union all select concat_ws(' ', 'refunds', origin, state, held_by), count(*) from billing.refunds group by 1
       union all select 'disputes ' || status, count(*) from billing.disputes group by 1
       union all select concat_ws(' ', 'subscriptions', kind, state), count(*) from billing.subscriptions group by 1
       union all select 'events of Stripe: ' || outcome, count(*) from inbound.receipts where provider = 'stripe' group by 1
       union all select 'calls of Stripe', count(*) from outbox.attempts
       union all select 'payments told by a look', count(*) from billing.payments where event_id like 'look:%'
       order by 1`,
    );
    return {
      ...Object.fromEntries(rows.map(({ what, n }) => [what, n])),
      ...Object.fromEntries([...this.#did].toSorted(([one], [other]) => one.localeCompare(other))),
    };
  }

  // --- what happens at random

  /** New ones come while there is room, and no more than are needed. */
  async #invite(): Promise<void> {
    const { inFlight, count } = this.#settings;
    const missing = Math.min(
      inFlight - this.#crowd.onTheirWay,
      Math.ceil(count * 1.05) - this.#paid - this.#crowd.onTheirWay,
    );
    if (missing >= Math.min(setSize, 5)) await this.#crowd.invite(Math.min(setSize, missing));
  }

  async #sweep(): Promise<void> {
    for (const failed of await this.#stage.sweep()) this.#noteFailed(failed);
  }

  /** That somebody else had it, or that the database went away, passes by itself. */
  #noteFailed(failed: string): void {
    if (!/"(sqlstate|code)": ?"(40|55|57)/.test(failed))
      this.findings.add("the sweep fails for nobody", failed.slice(0, 400));
  }

  /** Some of what is due later is due now. */
  async #hurry(random: Random): Promise<void> {
    await this.#stage.hurryOutbox();
    const table = random.pick(["checkouts", "payments", "refunds"]);
    await this.#stage.rows(
      `update billing.${table} set next_look_at = now() where ctid = any (array(
         select ctid from billing.${table} where next_look_at > now() order by next_look_at limit 30 for update skip locked))`,
    );
  }

  async #deliver(random: Random): Promise<void> {
    await this.#stage.stripe.ask("deliver", { ...random.weighted(deliveries), seed: random.between(1, 2 ** 31) });
    await this.#stage.stripe.ask("release", random.pick(["as_made", "reversed", "shuffled"]));
  }

  async #kill(random: Random): Promise<void> {
    const kill = random.weighted([
      ["a relay", 2],
      ["a relay at a step", 5],
      ["the server", 2],
      ["the server at an event", 4],
      ["Postgres", 1.5],
      ["backends", 3],
    ] as const);
    this.#count(`killed: ${kill}`);
    const stage = this.#stage;
    const place = random.between(0, stage.relayCount - 1);
    if (kill === "a relay") await stage.killRelay(place);
    else if (kill === "the server") await stage.killServer();
    else if (kill === "Postgres") await stage.crashPostgres();
    else if (kill === "backends") {
      await stage.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() order by random() limit 3`,
      );
    } else if (kill === "a relay at a step") {
      const operation = random.weighted([
        ["checkout.create", 3],
        ["refund", 3],
        ["checkout.expire", 1],
        ["look", 1],
        ["subscription.cancel", 1],
        ["dispatch", 1],
      ] as const);
      const at = random.pick(["send.before", "send.after", "settle.before", "settle.after"] as const);
      await stage.startRelay({ operation, at }, place);
    } else {
      const type = random.pick([
        "checkout.session.completed",
        "refund.created",
        "charge.dispute.created",
        "checkout.session.expired",
      ]);
      await stage.startServer({ type, at: random.pick(["during", "before the answer"]) });
    }
  }

  // --- the machinery

  #count(what: string): void {
    this.#did.set(what, (this.#did.get(what) ?? 0) + 1);
  }

  async #patiently(work: () => Promise<void>): Promise<void> {
    for (let left = 20; ; left -= 1) {
      try {
        return await work();
      } catch (error) {
        if (left === 0 || !isExpected(error)) throw error;
        await pause(500);
      }
    }
  }

  /** Does something again and again. That the database is away, or that Headroom refuses in words, is nothing to report. */
  async #again(over: AbortSignal, everyMs: Range, act: (random: Random) => Promise<void>): Promise<void> {
    const random = this.#random.fork();
    while (!over.aborted) {
      try {
        await act(random);
      } catch (error) {
        if (!isExpected(error)) this.findings.add("nothing fails in an unknown way", wordsOf(error));
      }
      await pause(random.between(...everyMs), over);
    }
  }

  async #report(over: AbortSignal, phase: string): Promise<void> {
    const startedAtMs = performance.now();
    while (!over.aborted) {
      await pause(10_000, over);
      const seconds = (performance.now() - startedAtMs) / 1_000;
      const rate = (this.#paid / seconds).toFixed(1);
      const left = await countStuck(this.#stage).catch(() => "?");
      this.#hooks.onProgress?.(
        phase === "rest"
          ? `rest, ${seconds.toFixed(0)} s: ${left} things are under way`
          : `faults, ${seconds.toFixed(0)} s: ${this.#paid} payments (${rate} a second), ${this.#crowd.offered} offers, ` +
              `${this.#crowd.onTheirWay} customers on their way, ${left} things under way`,
      );
    }
  }
}

function isExpected(error: unknown): boolean {
  return (
    error instanceof PartFailed ||
    isRetryableConnectionError(error) ||
    sqlStateOf(error)?.startsWith("PT4") === true ||
    // The server is down, or dies with a call in its hands.
    (error instanceof TypeError && error.message === "fetch failed")
  );
}

function wordsOf(error: unknown): string {
  const { message, sqlState } = toHeadroomError(error);
  return `${message} (${sqlState ?? "no SQL state"})`;
}
