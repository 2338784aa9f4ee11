/** A member's preferences: when, by their own clock, and which notifications by which channel. */
import { z } from "zod";
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";
import { withSecretKey, type SecretKey } from "../db/secrets/secret-key.ts";

const choiceSchema = z.enum(["on", "off", "digest"]);
export type Choice = z.infer<typeof choiceSchema>;

const categorySchema = z.object({
  category: z.string(),
  title: z.string(),
  meaning: z.string(),
  critical: z.boolean(),
  choices: z.record(z.string(), choiceSchema),
});
/** A category with the choice for each channel. Critical ones are always on. */
export type CategoryPreferences = z.infer<typeof categorySchema>;

export const preferencesSchema = z
  .object({
    workspace_id: z.string(),
    member_id: z.string(),
    name: z.string(),
    time_zone: z.string(),
    quiet_from: z.string().nullable(),
    quiet_until: z.string().nullable(),
    digest_at: z.string(),
    reached: z.record(z.string(), z.boolean()),
    categories: z.array(categorySchema),
  })
  .transform((row) => ({
    workspaceId: row.workspace_id,
    memberId: row.member_id,
    name: row.name,
    timeZone: row.time_zone,
    /** Quiet hours, as 22:00; null without any. */
    quietFrom: row.quiet_from,
    quietUntil: row.quiet_until,
    digestAt: row.digest_at,
    /** By which channels the member can be reached at all. */
    reached: row.reached,
    categories: row.categories,
  }));
export type Preferences = z.infer<typeof preferencesSchema>;

/** Whose preferences: a signed-in member may leave both out for their own; machines and operators need both. */
export interface Person {
  readonly workspaceId?: string | undefined;
  readonly member?: string | undefined;
}

/** What is left out stays as it is; null ends quiet hours, and resets zone and digest to the default. */
export interface PreferenceChanges {
  /** A name such as Europe/Berlin. */
  readonly timeZone?: string | null | undefined;
  readonly quietFrom?: string | null | undefined;
  readonly quietUntil?: string | null | undefined;
  readonly digestAt?: string | null | undefined;
  /** By category and channel. */
  readonly choices?: Readonly<Record<string, Readonly<Record<string, string>>>> | undefined;
}

export async function getPreferences(
  db: Queryable,
  person: Person = {},
): Promise<{ readonly outcome: "found"; readonly preferences: Preferences } | Refused> {
  return refusable(found(call(db, "public.get_notification_preferences", personOf(person))));
}

/** All of the changes, or none if one is refused. */
export async function setPreferences(
  db: Queryable,
  changes: PreferenceChanges,
  person: Person = {},
): Promise<{ readonly outcome: "found"; readonly preferences: Preferences } | Refused> {
  const p_changes = withoutUndefined({
    time_zone: changes.timeZone,
    quiet_from: changes.quietFrom,
    quiet_until: changes.quietUntil,
    digest_at: changes.digestAt,
    choices: changes.choices,
  });
  return refusable(found(call(db, "public.set_notification_preferences", { p_changes, ...personOf(person) })));
}

/** Their own incoming webhook at Slack; null removes it. `key`: HEADROOM_SECRET_KEY, under which it is sealed; not needed with Vault. */
export async function setSlackWebhook(
  db: Queryable,
  url: string | null,
  person: Person = {},
  key?: SecretKey,
): Promise<{ readonly outcome: "kept"; readonly set: boolean } | Refused> {
  return refusable(
    withSecretKey(db, key, async () => {
      const set = await call(db, "public.set_slack_webhook", { p_url: url, ...personOf(person) });
      return { outcome: "kept", set } as const;
    }),
  );
}

type PreferenceFields = Readonly<Record<string, PreferenceChanges[keyof PreferenceChanges]>>;

function personOf({ workspaceId, member }: Person) {
  return { p_member_id: member, p_workspace_id: workspaceId };
}

function withoutUndefined(fields: PreferenceFields) {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

async function found(
  answer: Promise<unknown>,
): Promise<{ readonly outcome: "found"; readonly preferences: Preferences }> {
  return { outcome: "found", preferences: preferencesSchema.parse(await answer) };
}
