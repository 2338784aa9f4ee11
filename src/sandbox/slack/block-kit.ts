/**
 * Block Kit as Slack accepts it: which blocks and elements there are, what they must have, and how long each part may be.
 *
 * Owns: the rules and the error messages. Does not own: how blocks look (page/).
 */
import { z } from "zod";

const plain = (max: number) =>
  z.looseObject({ type: z.literal("plain_text"), text: z.string().min(1).max(max), emoji: z.boolean().optional() });
const anyText = (max: number) =>
  z.discriminatedUnion("type", [
    plain(max),
    z.looseObject({ type: z.literal("mrkdwn"), text: z.string().min(1).max(max), verbatim: z.boolean().optional() }),
  ]);
const id = z.string().min(1).max(255);
const date = z.string().regex(/^\d{4}-\d\d-\d\d$/, "must be a date as YYYY-MM-DD");
const confirm = z.looseObject({ title: plain(100), text: anyText(300), confirm: plain(30), deny: plain(30) });
const option = z.looseObject({
  text: anyText(75),
  value: z.string().min(1).max(150),
  description: anyText(75).optional(),
});
const options = (max: number) => z.array(option).min(1).max(max);
const shared = { action_id: id.optional(), confirm: confirm.optional(), focus_on_load: z.boolean().optional() };
const placeholder = plain(150).optional();

const button = z.looseObject({
  type: z.literal("button"),
  text: plain(75),
  ...shared,
  value: z.string().max(2000).optional(),
  url: z.string().max(3000).optional(),
  style: z.enum(["primary", "danger"]).optional(),
  accessibility_label: z.string().max(75).optional(),
});
const select = z.looseObject({
  type: z.literal("static_select"),
  ...shared,
  placeholder,
  options: options(100),
  initial_option: option.optional(),
});
const multiSelect = z.looseObject({
  type: z.literal("multi_static_select"),
  ...shared,
  placeholder,
  options: options(100),
  initial_options: z.array(option).optional(),
});
const radio = z.looseObject({
  type: z.literal("radio_buttons"),
  ...shared,
  options: options(10),
  initial_option: option.optional(),
});
const checkboxes = z.looseObject({
  type: z.literal("checkboxes"),
  ...shared,
  options: options(10),
  initial_options: z.array(option).optional(),
});
const datepicker = z.looseObject({
  type: z.literal("datepicker"),
  ...shared,
  placeholder,
  initial_date: date.optional(),
});
const users = z.looseObject({
  type: z.literal("users_select"),
  ...shared,
  placeholder,
  initial_user: z.string().optional(),
});
const overflow = z.looseObject({ type: z.literal("overflow"), ...shared, options: options(5) });
const words = z.looseObject({
  type: z.literal("plain_text_input"),
  ...shared,
  placeholder,
  initial_value: z.string().max(3000).optional(),
  multiline: z.boolean().optional(),
  min_length: z.int().min(0).max(3000).optional(),
  max_length: z.int().min(1).max(3000).optional(),
});
const number = z.looseObject({
  type: z.literal("number_input"),
  ...shared,
  placeholder,
  is_decimal_allowed: z.boolean(),
  initial_value: z.string().optional(),
  min_value: z.string().optional(),
  max_value: z.string().optional(),
});
const address = z.looseObject({
  type: z.enum(["email_text_input", "url_text_input"]),
  ...shared,
  placeholder,
  initial_value: z.string().optional(),
});
const image = {
  type: z.literal("image"),
  image_url: z.string().max(3000),
  alt_text: z.string().min(1).max(2000),
};

const inMessage = [button, select, multiSelect, radio, checkboxes, datepicker, users, overflow] as const;
const accessory = z.discriminatedUnion("type", [...inMessage, z.looseObject(image)]);
const input = z.discriminatedUnion("type", [
  select,
  multiSelect,
  radio,
  checkboxes,
  datepicker,
  users,
  words,
  number,
  address,
]);
export type Element = z.infer<typeof accessory> | z.infer<typeof input>;
export type InputElement = z.infer<typeof input>;
export type Option = z.infer<typeof option>;
export type TextObject = z.infer<ReturnType<typeof anyText>>;

const section = z
  .looseObject({
    type: z.literal("section"),
    block_id: id.optional(),
    text: anyText(3000).optional(),
    fields: z.array(anyText(2000)).min(1).max(10).optional(),
    accessory: accessory.optional(),
  })
  .refine((block) => block.text !== undefined || block.fields !== undefined, "must have text or fields");

export const blockSchema = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("header"), block_id: id.optional(), text: plain(150) }),
  section,
  z.looseObject({
    type: z.literal("context"),
    block_id: id.optional(),
    elements: z
      .array(
        z.discriminatedUnion("type", [
          plain(3000),
          z.looseObject({ type: z.literal("mrkdwn"), text: z.string().min(1).max(3000) }),
          z.looseObject(image),
        ]),
      )
      .min(1)
      .max(10),
  }),
  z.looseObject({
    type: z.literal("actions"),
    block_id: id.optional(),
    elements: z.array(z.discriminatedUnion("type", inMessage)).min(1).max(25),
  }),
  z.looseObject({ type: z.literal("divider"), block_id: id.optional() }),
  z.looseObject({ ...image, block_id: id.optional(), title: plain(2000).optional() }),
  z.looseObject({
    type: z.literal("input"),
    block_id: id.optional(),
    label: plain(2000),
    element: input,
    hint: plain(2000).optional(),
    optional: z.boolean().optional(),
  }),
]);
export type Block = z.infer<typeof blockSchema>;

const uniqueIds = (blocks: readonly { readonly block_id?: string | undefined }[]): boolean => {
  const given = blocks.flatMap(({ block_id }) => block_id ?? []);
  return new Set(given).size === given.length;
};
const uniqueActions = (blocks: readonly Block[]): boolean =>
  blocks.every((block) => {
    if (block.type !== "actions") return true;
    const given = block.elements.flatMap(({ action_id }) => action_id ?? []);
    return new Set(given).size === given.length;
  });

const blocksSchema = (max: number) =>
  z
    .array(blockSchema)
    .max(max)
    .refine(uniqueIds, "block_id already exists")
    .refine(uniqueActions, "action_id already exists in this block");

export const messageBlocks = blocksSchema(50);
/** Slack adds up the content of a message's blocks; beyond this it answers msg_blocks_too_long. */
export const maxBlocksChars = 13_200;

export const viewSchema = z
  .looseObject({
    type: z.literal("modal"),
    title: plain(24),
    blocks: blocksSchema(100),
    close: plain(24).optional(),
    submit: plain(24).optional(),
    private_metadata: z.string().max(3000).optional(),
    callback_id: z.string().max(255).optional(),
    external_id: z.string().max(255).optional(),
    clear_on_close: z.boolean().optional(),
    notify_on_close: z.boolean().optional(),
  })
  .refine(
    (view) => view.submit !== undefined || !view.blocks.some((block) => block.type === "input"),
    "must define `submit` to use an `input` block",
  );
export type ViewInput = z.infer<typeof viewSchema>;

/** As Slack lists them in response_metadata.messages. */
export function complaints(error: z.ZodError, root: string): string[] {
  return error.issues.map(
    (issue) => `[ERROR] ${issue.message} [json-pointer:${["", root, ...issue.path].map(String).join("/")}]`,
  );
}

/** The number of visible characters. */
export function charsOf(blocks: readonly Block[]): number {
  let sum = 0;
  JSON.stringify(blocks, (name, value: unknown) => {
    if (name === "text" && typeof value === "string") sum += value.length;
    return value;
  });
  return sum;
}

/** Slack names each block and action that was sent without an id. */
export function named(blocks: readonly Block[], nextId: () => string): Block[] {
  return blocks.map((block) => {
    const withId = { ...block, block_id: block.block_id ?? nextId() };
    if (withId.type === "actions") {
      return {
        ...withId,
        elements: withId.elements.map((each) => ({ ...each, action_id: each.action_id ?? nextId() })),
      };
    }
    if (withId.type === "input") {
      return { ...withId, element: { ...withId.element, action_id: withId.element.action_id ?? nextId() } };
    }
    return withId;
  });
}
