/**
 * `npm run chaos -- --notifications`: callers repeat themselves, people change how they want to hear, mail servers, Postal and Slack
 * misbehave, parts are killed, all at random and from one seed. Then the faults stop, everything comes to rest, and the oracle judges.
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
import { comeToRest, countStuck } from "./rest.ts";
import { weather, type NotificationsSettings } from "./settings.ts";
import { NotificationsStage } from "./stage.ts";

export async function runNotifications(settings: NotificationsSettings, hooks: SeededHooks): Promise<SeededResult> {
  const startedAtMs = performance.now();
  const { relays, people } = settings;
  const stage = await NotificationsStage.open({ relays, people });
  try {
    const run = new NotificationsRun(stage, settings, hooks);
    await run.faults();
    await run.rest();
    hooks.onProgress?.("checking");
    await judge(stage, run.crowd.told, run.findings);
    const counts = await run.counted();
    const seconds = (performance.now() - startedAtMs) / 1_000;
    return { ok: !run.findings.any, seed: settings.seed, seconds, counts, findings: run.findings.list };
  } finally {
    await stage.close();
  }
}

class NotificationsRun {
  readonly findings = new Findings();
  readonly crowd: Crowd;
  readonly #stage: NotificationsStage;
  readonly #settings: NotificationsSettings;
  readonly #hooks: SeededHooks;
  readonly #random: Random;
  readonly #did = new Map<string, number>();

  constructor(stage: NotificationsStage, settings: NotificationsSettings, hooks: SeededHooks) {
    this.#stage = stage;
    this.#settings = settings;
    this.#hooks = hooks;
    this.#random = new Random(settings.seed);
    this.crowd = new Crowd(stage, this.#random.fork(), (what) => this.#count(what));
  }

  async faults(): Promise<void> {
    const { faultsMs, killEveryMs, count } = this.#settings;
    const stage = this.#stage;
    await stage.startWhatIsGone();
    for (const fault of weather)
      await stage.outside.ask("addFault", { ...fault, seed: this.#random.between(1, 2 ** 31) });
    this.#hooks.onProgress?.("the stage is up");
    const enough = new AbortController();
    const over = AbortSignal.any([this.#hooks.signal, AbortSignal.timeout(faultsMs), enough.signal]);
    // Evenly over the time, as far as there is time for it.
    const everyMs = Math.max(20, (faultsMs * 0.9) / count);
    await Promise.all([
      this.#again(over, [Math.round(everyMs * 0.5), Math.round(everyMs * 1.5)], async () => {
        await this.crowd.tell();
        if (this.crowd.told.length >= count) enough.abort();
      }),
      this.#again(over, [300, 900], () => this.crowd.repeat()),
      this.#again(over, [100, 300], () => this.crowd.change()),
      this.#again(over, [150, 400], () => this.crowd.post()),
      this.#again(over, [1_000, 3_000], (random) => stage.hurryHeld(random.next())),
      this.#again(over, [2_000, 4_000], () => stage.hurryOutbox()),
      this.#again(over, killEveryMs, (random) => this.#kill(random)),
      // Somebody who starts again what has died, as a supervisor does.
      this.#again(over, [300, 600], () => stage.startWhatIsGone()),
      this.#report(over, "faults"),
    ]);
    this.#hooks.signal.throwIfAborted();
    for (const [what, hits] of Object.entries(await stage.outside.ask("hits"))) this.#did.set(what, hits);
  }

  /** The faults are over: nothing may be left. */
  async rest(): Promise<void> {
    const stage = this.#stage;
    const over = AbortSignal.any([AbortSignal.timeout(this.#settings.restMs), this.#hooks.signal]);
    await stage.outside.ask("clearFaults");
    await this.#patiently(() => stage.startWhatIsGone());
    // Without traps, and plugged in.
    for (let place = 0; place < stage.relayCount; place += 1) await this.#patiently(() => stage.startRelay({ place }));
    await this.#patiently(() => stage.startServer());
    const done = new AbortController();
    await Promise.all([
      comeToRest(stage, this.crowd, over).finally(() => done.abort()),
      this.#report(AbortSignal.any([over, done.signal]), "rest"),
    ]);
    this.#hooks.signal.throwIfAborted();
  }

  async counted(): Promise<Record<string, number>> {
    const rows = await this.#stage.rows<{ what: string; n: number }>(
      `select concat_ws(' ', 'by', p.channel || ':', s.stage) as what, count(*)::integer as n
         from notify.parts p join notify.part_stages s on s.notification_id = p.notification_id and s.channel = p.channel group by 1
       union all select 'notifications', count(*) from notify.notifications
       union all select 'messages', count(*) from notify.deliveries
       union all select 'messages that carry several', count(*) from (
         select from notify.parts where delivery_id is not null group by delivery_id having count(*) > 1) q
       union all select 'suppressions: ' || reason || case when lifted_at is not null then ', lifted' else '' end, count(*)
         from notify.suppressions group by 1
       union all select 'marked uncertain', count(*) from outbox.attempts where state = 'ZOMBIE_REQUEUE' or error_code = 'outcome_unknown'
       union all select 'tries', count(*) from outbox.attempts where state = 'DISPATCHING'
       order by 1`,
    );
    const arrived = await this.#stage.outside.ask("arrived");
    const ids = arrived.flatMap(({ outboxId }) => outboxId ?? []);
    const copies = [...Map.groupBy(ids, (id) => id).values()].map(({ length }) => length);
    return {
      ...Object.fromEntries(rows.map(({ what, n }) => [what, n])),
      "messages that arrived": copies.length,
      "… more than once": copies.filter((times) => times > 1).length,
      "… at most": Math.max(0, ...copies),
      ...Object.fromEntries([...this.#did].toSorted(([one], [other]) => one.localeCompare(other))),
    };
  }

  async #kill(random: Random): Promise<void> {
    const kill = random.weighted([
      ["a relay", 2],
      ["a relay at a step", 5],
      ["a relay's network", 1.5],
      ["the server", 1.5],
      ["Postgres", 1.5],
      ["backends", 3],
    ] as const);
    this.#count(`killed: ${kill}`);
    const stage = this.#stage;
    const place = random.between(0, stage.relayCount - 1);
    if (kill === "a relay") await stage.killRelay(place);
    else if (kill === "the server") await stage.killServer();
    else if (kill === "Postgres") await stage.crashPostgres();
    else if (kill === "a relay's network") await stage.startRelay({ place, unplugged: true });
    else if (kill === "backends") {
      await stage.rows(
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid() order by random() limit 3`,
      );
    } else {
      const rail = random.weighted([
        ["email", 3],
        ["slack", 3],
        ["slack-webhook", 1],
      ] as const);
      const at = random.pick(["send.before", "send.after", "settle.before", "settle.after"] as const);
      await stage.startRelay({ place, trap: { rail, at } });
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
      const seconds = ((performance.now() - startedAtMs) / 1_000).toFixed(0);
      const left = await countStuck(this.#stage).catch(() => "?");
      const arrived = await this.#stage.outside.ask("count");
      this.#hooks.onProgress?.(
        `${phase}, ${seconds} s: ${this.crowd.told.length} things told, ${arrived} messages accepted, ${left} things under way`,
      );
    }
  }
}

function isExpected(error: unknown): boolean {
  return (
    error instanceof PartFailed || isRetryableConnectionError(error) || sqlStateOf(error)?.startsWith("PT4") === true
  );
}

function wordsOf(error: unknown): string {
  const { message, sqlState } = toHeadroomError(error);
  return `${message} (${sqlState ?? "no SQL state"})`;
}
