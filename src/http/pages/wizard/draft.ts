/**
 * An order that is being filled in, as public.describe_draft returns it.
 *
 * Owns: reading it. Does not own: the words.
 */
import { z } from "zod";

const text = z.union([z.string(), z.number()]).nullish();

export const draftSchema = z.object({
  workspace_id: z.string(),
  workspace: z.string(),
  /** `proof`: opened by the link in the mail, which proves the address. */
  kind: z.enum(["draft", "proof"]),
  /** The draft's token; the link in the mail has another. */
  token: z.string(),
  revision: z.int(),
  /** The step that is to be filled in next. */
  step: z.int().min(1).max(4),
  mails: z.int(),
  expires_at: z.coerce.date().nullable(),
  choices: z.object({
    sizes: z.array(z.string()),
    regions: z.array(z.string()),
    any_region: z.boolean(),
    durations: z.array(z.int()),
    any_duration: z.boolean(),
  }),
  terms: z.object({
    size: text,
    region: text,
    quantity: text,
    needed_by: text,
    duration_days: text,
    name: text,
    organisation: text,
    email: text,
  }),
  /** The last entries that were not valid. */
  entered: z
    .object({
      step: z.int(),
      values: z.record(z.string(), z.string()),
      problems: z.record(z.string(), z.string()),
    })
    .nullable(),
  problem: z.string().nullish(),
  offer: z
    .object({
      kind: z.enum(["one_off", "recurring"]),
      currency: z.string().regex(/^[A-Z]{3}$/),
      amount: z.int(),
      unit_amount: z.int(),
      interval: z.string().nullish(),
      digits: z.int().nullable(),
    })
    .nullish(),
  routing: z.object({ reviews: z.array(z.enum(["commercial", "technical"])), problem: z.string().nullish() }).nullish(),
  request: z.object({ id: z.string(), state: z.string(), link: z.string().nullable() }).nullish(),
});
export type Draft = z.infer<typeof draftSchema>;

export const savedSchema = z.object({
  outcome: z.enum(["saved", "invalid", "stale"]),
  draft: draftSchema,
});

export type StepNumber = 1 | 2 | 3 | 4;

export const stepTitles: Readonly<Record<StepNumber, string>> = {
  1: "What do you need?",
  2: "When, and for how long?",
  3: "Who are you?",
  4: "Check and order",
};

/** Which fields each step has. */
export const stepFields = {
  1: ["size", "region", "quantity"],
  2: ["needed_by", "duration_days"],
  3: ["name", "organisation", "email"],
} as const satisfies Readonly<Record<1 | 2 | 3, readonly (keyof Draft["terms"])[]>>;
