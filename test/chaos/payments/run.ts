/**
 * `npm run chaos -- --payments`: customers pay, Stripe and its events misbehave, parts are killed, people and banks do what they do, all at
 * random and from one seed. Then the faults stop, everything comes to rest, and the oracle judges.
 */
import { trapSteps } from "../kit/relay-part.ts";
import type { Random } from "../kit/random.ts";
import { patiently, runPlay, type Play, type Run } from "../kit/run.ts";
import type { Hooks, RunResult } from "../kit/subject.ts";
import { Crowd } from "./crowd.ts";
import { Hostile } from "./hostile.ts";
import { judge } from "./oracle.ts";
import { Outside } from "./outside.ts";
import { comeToRest, countStuck } from "./rest.ts";
import { calmDelivery, deliveries, weather, type PaymentsSettings } from "./settings.ts";
import { PaymentsStage } from "./stage.ts";

export function runPayments(settings: PaymentsSettings, hooks: Hooks): Promise<RunResult> {
  return runPlay(settings, hooks, async (run, undo) => {
    const stage = await PaymentsStage.open({ relays: settings.relays });
    undo.defer(() => stage.close());
    await stage.startWhatIsGone();
    for (const fault of weather) await stage.stripe.ask("addFault", { ...fault, seed: run.random.between(1, 2 ** 31) });
    const chance = run.random.fork();
    stage.works.setFaults(0.05, () => chance.next());
    return new PaymentsPlay(stage, settings, run);
  });
}

const setSize = 20;

class PaymentsPlay implements Play {
  readonly #stage: PaymentsStage;
  readonly #settings: PaymentsSettings;
  readonly #run: Run;
  readonly #crowd: Crowd;
  readonly #outside: Outside;
  readonly #hostile: Hostile;
  #paid = 0;

  constructor(stage: PaymentsStage, settings: PaymentsSettings, run: Run) {
    this.#stage = stage;
    this.#settings = settings;
    this.#run = run;
    const { random, findings, count } = run;
    this.#crowd = new Crowd(stage, random.fork(), count);
    this.#outside = new Outside(stage, random.fork(), count);
    this.#hostile = new Hostile(stage, random.fork(), findings, count);
  }

  readonly faults = (): Promise<unknown> => {
    const stage = this.#stage;
    const run = this.#run;
    return Promise.all([
      run.again([50, 150], () => this.#invite()),
      run.again([50, 150], () => this.#crowd.go(16)),
      run.again([100, 200], () => this.#crowd.pay()),
      run.again([200, 400], () => this.#outside.work()),
      run.again([500, 1_000], () => this.#outside.bank()),
      run.again([200, 600], () => this.#hostile.act()),
      this.#hostile.holdLocks(run.over),
      run.again([15_000, 25_000], () => this.#outside.withdraw()),
      run.again([600, 1_200], () => this.#sweep()),
      run.again([2_000, 4_000], (random) => this.#hurry(random)),
      run.again([2_000, 5_000], (random) => this.#deliver(random)),
      run.again(this.#settings.killEveryMs, (random) => this.#kill(random)),
      // Restarts dead parts, like a supervisor.
      run.again([300, 600], () => stage.startWhatIsGone()),
      run.again([500, 500], async () => {
        this.#paid = (await stage.stripe.ask("open")).completed;
        if (this.#paid >= this.#settings.count) run.enough();
      }),
    ]);
  };

  /** After the faults: waiting work is done, unknown outcomes are looked up, and nothing may be left. */
  readonly rest = async (): Promise<void> => {
    const stage = this.#stage;
    await stage.stripe.ask("clearFaults");
    stage.works.setFaults(0, () => 1);
    await stage.stripe.ask("deliver", calmDelivery);
    await patiently(() => stage.startAll());
    await stage.stripe.ask("release", "shuffled");
    await stage.stripe.ask("forgetKeys");
    await stage.rows("select billing.reconcile_payments('otto', now() - interval '1 day')");
    await comeToRest(stage, this.#outside, this.#run.over, (failed) => this.#noteFailed(failed));
  };

  readonly judge = (): Promise<void> => judge(this.#stage, this.#run.findings);

  readonly sections = async () => ({
    "what there is": await this.#stage.counts(
      `select 'requests ' || state as what, count(*)::integer as n from capacity.requests group by state
       union all select concat_ws(' ', 'payments', purpose, case when counts then 'counts' else 'does not count' end, refund_reason), count(*)
         from billing.payments group by 1
       union all select concat_ws(' ', 'refunds', origin, state, held_by), count(*) from billing.refunds group by 1
       union all select 'disputes ' || status, count(*) from billing.disputes group by 1
       union all select concat_ws(' ', 'subscriptions', kind, state), count(*) from billing.subscriptions group by 1
       union all select 'events of Stripe: ' || outcome, count(*) from inbound.receipts where provider = 'stripe' group by 1
       union all select 'calls of Stripe', count(*) from outbox.attempts
       union all select 'payments told by a look', count(*) from billing.payments where event_id like 'look:%'`,
    ),
    "what happened": this.#run.did,
  });

  readonly progress = async (): Promise<string> =>
    `${this.#paid} payments, ${this.#crowd.offered} offers, ${this.#crowd.onTheirWay} customers on their way, ` +
    `${await countStuck(this.#stage)} things under way`;

  /** New customers come while there is room, and no more than are needed. */
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

  /** A lost race or a lost database resolves itself. */
  #noteFailed(failed: string): void {
    if (!/"(sqlstate|code)": ?"(40|55|57)/.test(failed))
      this.#run.findings.add("the sweep fails for nobody", failed.slice(0, 400));
  }

  /** Makes some of the later work due now. */
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
    this.#run.count(`killed: ${kill}`);
    const stage = this.#stage;
    const place = random.between(0, stage.relayCount - 1);
    if (kill === "a relay") await stage.killRelay(place);
    else if (kill === "the server") await stage.killServer();
    else if (kill === "Postgres") await stage.crashPostgres();
    else if (kill === "backends") await stage.killBackends();
    else if (kill === "a relay at a step") {
      const operation = random.weighted([
        ["checkout.create", 3],
        ["refund", 3],
        ["checkout.expire", 1],
        ["look", 1],
        ["subscription.cancel", 1],
        ["dispatch", 1],
      ] as const);
      const at = random.pick(trapSteps);
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
}
