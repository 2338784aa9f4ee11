/**
 * Short scenes about notifications, without random faults, for planted bugs. Each returns its notifications.
 */
import { eventually } from "../kit/eventually.ts";
import { nameOf, type Told } from "./crowd.ts";
import type { NotificationsStage } from "./stage.ts";

interface Wish {
  readonly number: number;
  /** Counted from 1. Default: 1. */
  readonly person?: number;
  readonly channels: readonly string[];
  readonly about?: string;
  readonly lifeSeconds?: number;
}

/** Sends it once; the answer is for the oracle. */
async function tell(
  stage: NotificationsStage,
  { number, person = 1, channels, about, lifeSeconds }: Wish,
): Promise<Told> {
  const who = stage.everybody[person - 1];
  if (who === undefined) throw new Error(`there is no person ${person}`);
  const key = `key-${number}`;
  const rows = await stage.rows<{ id: string }>(
    `select notify.tell(notify.recipient('acme', 'member', $1), $2, jsonb_populate_record(
              notify.content('requests', $3, $4, $5, p_about => $6),
              jsonb_build_object('expires_at', clock_timestamp() + $7 * interval '1 s'))) as id`,
    [who.id, key, nameOf(number), `This is ${nameOf(number)}.`, channels, about ?? null, lifeSeconds ?? null],
  );
  return {
    number,
    key,
    who,
    category: "requests",
    about: about ?? null,
    channels,
    priority: 5,
    lifeSeconds: lifeSeconds ?? null,
    isTakenBack: false,
    ids: new Set(rows.map(({ id }) => id)),
  };
}

async function hasArrived(stage: NotificationsStage, count: number): Promise<void> {
  await eventually(async () => (await stage.outside.ask("count")) >= count, `${count} messages`);
}

export const scenes = {
  async "one thing by four callers"(stage) {
    const wish = { number: 1, channels: ["in-app", "email"] };
    const [first, ...others] = await Promise.all([1, 2, 3, 4].map(() => tell(stage, wish)));
    if (first === undefined) return [];
    return [{ ...first, ids: new Set([first, ...others].flatMap(({ ids }) => [...ids])) }];
  },
  async "a burst about one thing"(stage) {
    const told: Told[] = [];
    for (const number of [1, 2, 3])
      told.push(await tell(stage, { number, channels: ["in-app", "email"], about: "CR-1" }));
    await stage.hurryHeld();
    await eventually(async () => (await stage.countOf("notify.parts where state = 'carried'")) > 0, "the release");
    return told;
  },
  /** It waits for more about the same request, and has expired when the wait ends. */
  async "held for too long"(stage) {
    const told = await tell(stage, { number: 1, channels: ["email"], about: "CR-1", lifeSeconds: 60 });
    for (const table of ["notifications", "parts"])
      await stage.rows(`update notify.${table} set expires_at = clock_timestamp() - interval '1 s'`);
    await stage.hurryHeld();
    await eventually(async () => (await stage.countOf("notify.parts where state = 'held'")) === 0, "the release");
    return [told];
  },
  async "a mail to an address that bounced"(stage) {
    const first = await tell(stage, { number: 1, person: 12, channels: ["email"] });
    await eventually(async () => (await stage.countOf("notify.suppressions")) === 1, "the suppression");
    await stage.age("1 minute");
    await stage.rows("update notify.suppressions set since = since - interval '30 s'");
    await stage.rows("update directory.members set email = 'P12@bounces.example' where id = 'p12'");
    const second = await tell(stage, { number: 2, person: 12, channels: ["in-app", "email"] });
    return [first, second];
  },
  async "a mail that comes too late"(stage) {
    await stage.rows("update outbox.streams set max_tries = 100 where name = 'people'");
    await stage.outside.ask("addFault", { provider: "smtp", method: "DATA", kind: "rateLimit" });
    const told = await tell(stage, { number: 1, channels: ["email", "slack"], lifeSeconds: 5 });
    await hasArrived(stage, 1);
    await eventually(async () => (await stage.countOf("notify.parts where state = 'carried'")) < 2, "the mail's end");
    await stage.outside.ask("clearFaults");
    return [told];
  },
  async "a mail whose answer is lost"(stage) {
    await stage.outside.ask("addFault", { provider: "smtp", method: "DATA", kind: "dropAfterAccept", times: 1 });
    const told = await tell(stage, { number: 1, channels: ["email"] });
    await hasArrived(stage, 2);
    return [told];
  },
  async "a mail that comes back"(stage) {
    await stage.killRelay(0);
    await stage.startRelay(undefined, 1);
    const told = await tell(stage, { number: 1, channels: ["email"] });
    await hasArrived(stage, 1);
    await stage.outside.ask("bounce", 0, "MessageDeliveryFailed");
    return [told];
  },
} satisfies Record<string, (stage: NotificationsStage) => Promise<readonly Told[]>>;
