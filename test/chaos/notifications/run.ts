/**
 * `npm run chaos -- --notifications`: callers repeat their calls, people change their preferences, mail servers, Postal and Slack
 * misbehave, parts are killed, all at random and from one seed. Then the faults stop, everything comes to rest, and the oracle judges.
 */
import { trapSteps } from "../kit/relay-part.ts";
import type { Random } from "../kit/random.ts";
import { patiently, runPlay, type Play, type Run } from "../kit/run.ts";
import type { Hooks, RunResult } from "../kit/subject.ts";
import { Crowd } from "./crowd.ts";
import { judge } from "./oracle.ts";
import { comeToRest, countStuck } from "./rest.ts";
import { weather, type NotificationsSettings } from "./settings.ts";
import { NotificationsStage } from "./stage.ts";

export function runNotifications(settings: NotificationsSettings, hooks: Hooks): Promise<RunResult> {
  return runPlay(settings, hooks, async (run, undo) => {
    const { relays, people } = settings;
    const stage = await NotificationsStage.open({ relays, people });
    undo.defer(() => stage.close());
    await stage.startWhatIsGone();
    for (const fault of weather)
      await stage.outside.ask("addFault", { ...fault, seed: run.random.between(1, 2 ** 31) });
    return new NotificationsPlay(stage, settings, run);
  });
}

class NotificationsPlay implements Play {
  readonly #stage: NotificationsStage;
  readonly #settings: NotificationsSettings;
  readonly #run: Run;
  readonly #crowd: Crowd;
  /** How often the faults of outside parts happened. */
  #hits: Readonly<Record<string, number>> = {};

  constructor(stage: NotificationsStage, settings: NotificationsSettings, run: Run) {
    this.#stage = stage;
    this.#settings = settings;
    this.#run = run;
    this.#crowd = new Crowd(stage, run.random.fork(), run.count);
  }

  readonly faults = async (): Promise<void> => {
    const { faultsMs, killEveryMs, count } = this.#settings;
    const stage = this.#stage;
    const run = this.#run;
    // Evenly over the time, as far as there is time for it.
    const everyMs = Math.max(20, (faultsMs * 0.9) / count);
    await Promise.all([
      run.again([Math.round(everyMs * 0.5), Math.round(everyMs * 1.5)], async () => {
        await this.#crowd.tell();
        if (this.#crowd.told.length >= count) run.enough();
      }),
      run.again([300, 900], () => this.#crowd.repeat()),
      run.again([100, 300], () => this.#crowd.change()),
      run.again([150, 400], () => this.#crowd.post()),
      run.again([1_000, 3_000], (random) => stage.hurryHeld(random.next())),
      run.again([2_000, 4_000], () => stage.hurryOutbox()),
      run.again(killEveryMs, (random) => this.#kill(random)),
      // Restarts dead parts, like a supervisor.
      run.again([300, 600], () => stage.startWhatIsGone()),
    ]);
    this.#hits = await stage.outside.ask("hits");
  };

  /** After the faults: nothing may be left. */
  readonly rest = async (): Promise<void> => {
    await this.#stage.outside.ask("clearFaults");
    await patiently(() => this.#stage.startAll());
    await comeToRest(this.#stage, this.#crowd, this.#run.over);
  };

  readonly judge = (): Promise<void> => judge(this.#stage, this.#crowd.told, this.#run.findings);

  readonly sections = async () => {
    const counts = await this.#stage.counts(
      `select concat_ws(' ', 'by', p.channel || ':', s.stage) as what, count(*)::integer as n
         from notify.parts p join notify.part_stages s on s.notification_id = p.notification_id and s.channel = p.channel group by 1
       union all select 'notifications', count(*) from notify.notifications
       union all select 'messages', count(*) from notify.deliveries
       union all select 'messages that carry several', count(*) from (
         select from notify.parts where delivery_id is not null group by delivery_id having count(*) > 1) q
       union all select 'suppressions: ' || reason || case when lifted_at is not null then ', lifted' else '' end, count(*)
         from notify.suppressions group by 1
       union all select 'marked uncertain', count(*) from outbox.attempts where state = 'ZOMBIE_REQUEUE' or error_code = 'outcome_unknown'
       union all select 'tries', count(*) from outbox.attempts where state = 'DISPATCHING'`,
    );
    const arrived = await this.#stage.outside.ask("arrived");
    const ids = arrived.flatMap(({ outboxId }) => outboxId ?? []);
    const copies = [...Map.groupBy(ids, (id) => id).values()].map(({ length }) => length);
    return {
      "what there is": {
        ...counts,
        "messages that arrived": copies.length,
        "… more than once": copies.filter((times) => times > 1).length,
        "… at most": Math.max(0, ...copies),
      },
      "what happened": { ...this.#hits, ...this.#run.did },
    };
  };

  readonly progress = async (): Promise<string> =>
    `${this.#crowd.told.length} things told, ${await this.#stage.outside.ask("count")} messages accepted, ` +
    `${await countStuck(this.#stage)} things under way`;

  async #kill(random: Random): Promise<void> {
    const kill = random.weighted([
      ["a relay", 2],
      ["a relay at a step", 5],
      ["a relay's network", 1.5],
      ["the server", 1.5],
      ["Postgres", 1.5],
      ["backends", 3],
    ] as const);
    this.#run.count(`killed: ${kill}`);
    const stage = this.#stage;
    const place = random.between(0, stage.relayCount - 1);
    if (kill === "a relay") await stage.killRelay(place);
    else if (kill === "the server") await stage.killServer();
    else if (kill === "Postgres") await stage.crashPostgres();
    else if (kill === "a relay's network") await stage.startRelay("unplugged", place);
    else if (kill === "backends") await stage.killBackends();
    else {
      const rail = random.weighted([
        ["email", 3],
        ["slack", 3],
        ["slack-webhook", 1],
      ] as const);
      const at = random.pick(trapSteps);
      await stage.startRelay({ rail, at }, place);
    }
  }
}
