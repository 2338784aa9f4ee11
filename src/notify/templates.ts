/** What messages say in a workspace: our texts, and its own texts that replace them. */
import { z } from "zod";
import { call, type Queryable } from "../db/call.ts";
import { refusable, type Refused } from "../db/refusal.ts";

export interface ListedTemplate {
  readonly name: string;
  readonly language: string;
  /** `member` or `customer`. */
  readonly audience: string;
  /** When it is used. */
  readonly meaning: string;
  /** Whether the workspace has its own text. */
  readonly changed: boolean;
  readonly updatedAt: Date | null;
  readonly updatedBy: string | null;
}

const templateSchema = z
  .object({
    name: z.string(),
    language: z.string(),
    audience: z.string(),
    meaning: z.string(),
    title: z.string(),
    body: z.string(),
    changed: z.boolean(),
    updated_at: z.string().nullable(),
    updated_by: z.string().nullable(),
    own: z.object({ title: z.string(), body: z.string() }),
    variables: z.array(
      z.object({ variable: z.string(), required: z.boolean(), meaning: z.string(), example: z.string() }),
    ),
  })
  .transform(({ updated_at, updated_by, ...row }) => ({
    ...row,
    updatedAt: updated_at === null ? null : new Date(updated_at),
    updatedBy: updated_by,
  }));
/** A template with the text in use, our text, and its variables. */
export type Template = z.infer<typeof templateSchema>;

const previewSchema = z.object({
  /** What the sample is about. */
  sample: z.string(),
  channels: z
    .object({
      "in-app": z.object({ title: z.string(), body: z.string() }).optional(),
      email: z.object({ subject: z.string(), text: z.string(), html: z.string() }).optional(),
      slack: z
        .object({
          text: z.string(),
          blocks: z.array(z.looseObject({ text: z.looseObject({ text: z.string() }).optional() })),
        })
        .optional(),
    })
    .catchall(z.looseObject({ text: z.string().optional() })),
});
/** What a message says for a sample, by each channel that it may go by. */
export type TemplatePreview = z.infer<typeof previewSchema>;

/** Which template: for a signed-in admin of their own workspace; machines and operators name one. */
export interface TemplateName {
  readonly name: string;
  readonly workspaceId?: string | undefined;
  /** Default: en, which is the only one so far. */
  readonly language?: string | undefined;
}

export async function listTemplates(
  db: Queryable,
  { workspaceId }: { readonly workspaceId?: string | undefined } = {},
): Promise<{ readonly outcome: "listed"; readonly templates: readonly ListedTemplate[] } | Refused> {
  return refusable(
    call(db, "public.list_notification_templates", { p_workspace_id: workspaceId }).then((rows) => ({
      outcome: "listed" as const,
      templates: rows.map(({ updated_at, updated_by, ...row }) => ({
        ...row,
        updatedAt: updated_at,
        updatedBy: updated_by,
      })),
    })),
  );
}

export async function getTemplate(db: Queryable, which: TemplateName): Promise<FoundTemplate | Refused> {
  return refusable(found(call(db, "public.get_notification_template", argumentsOf(which))));
}

/** What the message would say; without title or body, what it says now. Refuses what `setTemplate` would refuse. */
export async function previewTemplate(
  db: Queryable,
  which: TemplateName,
  text: { readonly title?: string | undefined; readonly body?: string | undefined } = {},
): Promise<{ readonly outcome: "previewed"; readonly samples: readonly TemplatePreview[] } | Refused> {
  const given = { ...argumentsOf(which), p_title: text.title, p_body: text.body };
  return refusable(
    call(db, "public.preview_notification_template", given).then((samples) => ({
      outcome: "previewed" as const,
      samples: z.array(previewSchema).parse(samples),
    })),
  );
}

/** Applies from the next message on. Earlier notifications keep their text. */
export async function setTemplate(
  db: Queryable,
  which: TemplateName,
  text: { readonly title: string; readonly body: string },
): Promise<FoundTemplate | Refused> {
  const given = { ...argumentsOf(which), p_title: text.title, p_body: text.body };
  return refusable(found(call(db, "public.set_notification_template", given)));
}

/** Our text again; the workspace's is deleted permanently. `changed` says whether it had one. */
export async function resetTemplate(
  db: Queryable,
  which: TemplateName,
): Promise<{ readonly outcome: "done"; readonly changed: boolean } | Refused> {
  return refusable(
    call(db, "public.reset_notification_template", argumentsOf(which)).then((changed) => ({
      outcome: "done" as const,
      changed,
    })),
  );
}

export interface FoundTemplate {
  readonly outcome: "found";
  readonly template: Template;
}

function argumentsOf({ name, workspaceId, language }: TemplateName) {
  return { p_name: name, p_workspace_id: workspaceId, p_language: language };
}

async function found(answer: Promise<unknown>): Promise<FoundTemplate> {
  return { outcome: "found", template: templateSchema.parse(await answer) };
}
