/**
 * Senders and recipients in a seeded run: callers that repeat a call until they get an answer, from several connections; and people
 * who change their preferences.
 *
 * Owns: the list of notifications, for the oracle. Does not own: when, nor what fails.
 */
import { isRetryableConnectionError, sqlStateOf } from "../../../src/db/errors.ts";
import type { Random } from "../kit/random.ts";
import { webhookOf, type Somebody } from "./directory.ts";
import type { NotificationsStage } from "./stage.ts";

/** A notification of a person, and all ids that callers got as answers. */
export interface Told {
  readonly number: number;
  readonly key: string;
  readonly who: Somebody;
  readonly category: "general" | "requests" | "reviews" | "operations";
  readonly about: string | null;
  readonly channels: readonly string[];
  readonly priority: number;
  /** After how many seconds it expires; null means a month. */
  readonly lifeSeconds: number | null;
  /** A caller that rolled back: it was never sent. */
  readonly isTakenBack: boolean;
  readonly ids: Set<string>;
}

/** The name that identifies a notification on arrival; mail and Slack have no id for it. */
export const nameOf = (number: number): string => `Nr${number}x`;
export function numbersIn(text: string): ReadonlySet<number> {
  return new Set([...text.matchAll(/Nr(\d+)x/g)].map(([, digits]) => Number(digits)));
}

export class Crowd {
  readonly told: Told[] = [];
  readonly #stage: NotificationsStage;
  readonly #random: Random;
  readonly #count: (what: string) => void;

  constructor(stage: NotificationsStage, random: Random, count: (what: string) => void) {
    this.#stage = stage;
    this.#random = random;
    this.#count = count;
  }

  /** A new notification, by one to four concurrent callers, some of which fail. */
  async tell(): Promise<void> {
    const random = this.#random;
    const told = this.#invent();
    this.told.push(told);
    const callers = random.weighted([
      [1, 6],
      [2, 3],
      [4, 1],
    ] as const);
    await settled(Array.from({ length: callers }, () => this.#say(told)));
    if (random.chance(0.1)) await this.#say(told);
  }

  /** Callers who got no answer call again, and so do some who did. */
  async repeat(all = false): Promise<void> {
    const open = this.told.filter(({ ids, isTakenBack }) => ids.size === 0 && !isTakenBack);
    const again = all ? [] : this.told.filter(() => this.#random.chance(0.01));
    for (const told of [...open, ...again]) await this.#say(told);
  }

  #invent(): Told {
    const random = this.#random;
    const number = this.told.length + 1;
    const category = random.weighted([
      ["general", 4],
      ["requests", 2],
      ["reviews", 3],
      ["operations", 1],
    ] as const);
    return {
      number,
      key: `key-${number}`,
      who: random.pick(this.#stage.everybody),
      category,
      // Few requests, so that many notifications are about the same one.
      about: category !== "general" && random.chance(0.7) ? `CR-${random.between(1, 6)}` : null,
      channels: random.weighted([
        [["in-app", "email", "slack"], 5],
        [["in-app", "direct"], 2],
        [["email"], 2],
        [["slack"], 1],
        [["in-app"], 1],
      ] as const),
      priority: random.between(0, 9),
      lifeSeconds: random.chance(0.15) ? random.between(1, 8) : null,
      isTakenBack: random.chance(0.03),
      ids: new Set(),
    };
  }

  async #say(told: Told): Promise<void> {
    const { number, key, who, category, about, channels, priority, lifeSeconds, isTakenBack, ids } = told;
    const title = `${nameOf(number)} ${category}`;
    const body = `This is ${nameOf(number)}.${number % 7 === 0 ? "\n\nA second <paragraph> & {{more}}." : ""}`;
    const url = number % 3 === 0 ? "https://headroom.example/requests/CR-1" : null;
    const expires = lifeSeconds === null ? "null::timestamptz" : `clock_timestamp() + interval '${lifeSeconds} s'`;
    if (isTakenBack) {
      await this.#takeBack([who.id, key, title, body, channels]);
      return;
    }
    const values = [who.id, key, title, body, url, channels, priority];
    const [row] =
      category !== "general"
        ? await this.#stage.rows<{ id: string }>(
            `select notify.tell(notify.recipient('acme', 'member', $1), $2, jsonb_populate_record(
                      notify.content($8, $3, $4, $6, $7, $9, p_action_url => $5), jsonb_build_object('expires_at', ${expires}))) as id`,
            [...values, category, about],
          )
        : number % 2 === 0
          ? await this.#stage.rows<{ id: string }>(
              `select public.notify('acme', $1, $2, $3, $4, $5, $6, $7, ${expires}) as id`,
              values,
            )
          : await this.#stage.rows<{ id: string }>(
              `insert into public.notification_outbox (workspace_id, user_id, idempotency_key, title, body, action_url, channels, priority, expires_at)
               values ('acme', $1, $2, $3, $4, $5, $6, $7, ${expires}) returning id`,
              values,
            );
    if (row !== undefined) ids.add(row.id);
  }

  async #takeBack(values: readonly unknown[]): Promise<void> {
    const client = await this.#stage.connect();
    try {
      await client.query("begin");
      await client.query("select public.notify('acme', $1, $2, $3, $4, null, $5)", [...values]);
      await client.query("rollback");
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  /** A person changes their preferences. */
  async change(): Promise<void> {
    const random = this.#random;
    const { id, slackUserId } = random.pick(this.#stage.everybody);
    const act = random.weighted([
      ["quiet", 3],
      ["not quiet", 4],
      ["choice", 4],
      ["own webhook", 2],
      ["dead webhook", 1],
      ["no webhook", 2],
      ["read", 2],
    ] as const);
    this.#count(`person: ${act}`);
    const category = random.pick(["general", "requests", "reviews"]);
    const choice = random.weighted([
      ["on", 3],
      ["off", 1],
      ["digest", 2],
    ] as const);
    const changes = {
      quiet: {
        quiet_from: "00:00",
        quiet_until: "23:59",
        time_zone: random.pick(["UTC", "Europe/Berlin", "Asia/Tokyo"]),
      },
      "not quiet": { quiet_from: null, quiet_until: null },
      choice: { choices: { [category]: { [random.pick(["email", "slack"])]: choice } } },
    } as const;
    if (act === "quiet" || act === "not quiet" || act === "choice") {
      await this.#stage.rows("select public.set_notification_preferences($1, $2, 'acme')", [
        JSON.stringify(changes[act]),
        id,
      ]);
    } else if (act === "read") {
      await this.#stage.rows(
        "update notify.notifications set read_at = now() where recipient = $1 and read_at is null",
        [id],
      );
    } else {
      const place = act === "own webhook" ? slackUserId : "BGONE";
      const address = act === "no webhook" ? null : webhookOf(place);
      await this.#stage.rows("select notify.set_slack_webhook('acme', $1, $2)", [id, address]);
    }
  }

  /** Mails bounce after days; a person confirms that their address works after all. */
  async post(): Promise<void> {
    const random = this.#random;
    if (random.chance(0.5)) {
      const event = random.pick(["MessageBounced", "MessageDeliveryFailed", "MessageDelayed", "MessageSent"] as const);
      const found = await this.#stage.outside.ask("bounce", random.between(0, 40), event);
      if (found) this.#count(`Postal: ${event}`);
    } else {
      const { email } = random.pick(this.#stage.everybody);
      const [lifted] = await this.#stage.rows<{ was: boolean }>(
        "select notify.lift_suppression('acme', $1, 'ada') as was",
        [email],
      );
      if (lifted?.was === true) this.#count("operator: suppression lifted");
    }
  }
}

/** A caller that lost the connection calls again later. */
async function settled(calls: readonly Promise<void>[]): Promise<void> {
  for (const each of await Promise.allSettled(calls)) {
    if (each.status === "rejected" && !isPassing(each.reason)) throw each.reason;
  }
}

function isPassing(error: unknown): boolean {
  return isRetryableConnectionError(error) || sqlStateOf(error)?.startsWith("PT4") === true;
}
