/**
 * The rules of Slack's Block Kit that every message must keep, whatever people wrote. Lengths are those of JavaScript strings, as Slack
 * counts them.
 *
 * Owns: the limits. Does not own: what a message should say.
 */
import type { Json } from "../../../../src/contract/rail.ts";

interface TextObject {
  readonly type: "mrkdwn" | "plain_text";
  readonly text: string;
}

interface Button {
  readonly type: "button";
  readonly action_id: string;
  readonly value: string;
  readonly text: TextObject;
  readonly style?: string;
  readonly accessibility_label: string;
}

export interface Block {
  readonly type: string;
  readonly block_id?: string;
  readonly text?: TextObject;
  readonly fields?: readonly TextObject[];
  readonly elements?: readonly (Button | TextObject)[];
}

export interface Message {
  readonly method: string;
  readonly channel: string;
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly metadata: { readonly event_type: string; readonly event_payload: Json };
}

/** What is wrong with a message; empty when Slack would accept it and show what was meant. */
export function complaintsAbout(message: Message): string[] {
  const complaints: string[] = [];
  const check = (holds: boolean, what: string): void => void (holds || complaints.push(what));
  const { blocks } = message;
  check(within(message.text, 1, 3_000), `text of ${message.text.length}`);
  check(blocks.length >= 1 && blocks.length <= 50, `${blocks.length} blocks`);
  const total = textsOf(message).reduce((sum, { text }) => sum + text.length, 0);
  check(total <= 13_000, `${total} characters in all`);
  for (const block of blocks) {
    check(["header", "section", "actions", "context"].includes(block.type), `a block of type ${block.type}`);
    if (block.type === "header") check(within(block.text?.text ?? "", 1, 150), "a header that is too long");
    if (block.type === "header") check(block.text?.type === "plain_text", "a header with markup");
    if (block.type === "section") {
      check(block.text !== undefined || block.fields !== undefined, "an empty section");
      check(block.text === undefined || within(block.text.text, 1, 3_000), `a section of ${block.text?.text.length}`);
      check((block.fields?.length ?? 1) >= 1 && (block.fields?.length ?? 1) <= 10, "too many fields, or none");
      check(block.fields?.every((field) => within(field.text, 1, 2_000)) ?? true, "a field that is too long");
    }
    if (block.type === "context") check((block.elements?.length ?? 0) <= 10, "too many elements");
    if (block.type === "actions")
      check(within("x".repeat(block.elements?.length ?? 0), 1, 25), "too many buttons, or none");
  }
  for (const button of buttonsOf(message)) {
    check(within(button.text.text, 1, 75) && button.text.type === "plain_text", `the label of ${button.action_id}`);
    check(within(button.value, 1, 2_000) && within(button.action_id, 1, 255), `the value of ${button.action_id}`);
    check(within(button.accessibility_label, 1, 75), `the accessibility label of ${button.action_id}`);
    check(button.accessibility_label.startsWith(button.text.text), `${button.action_id} is called as it is written`);
    check(button.style === undefined || ["primary", "danger"].includes(button.style), `the style ${button.style}`);
  }
  const ids = blocks.flatMap(({ block_id }) => block_id ?? []);
  check(new Set(ids).size === ids.length && ids.every((id) => id.length <= 255), "block ids");
  const actions = buttonsOf(message).map(({ action_id }) => action_id);
  check(new Set(actions).size === actions.length, "two buttons for one action");
  for (const { text } of [...textsOf(message), { text: message.text }]) {
    check(text.isWellFormed(), "half a character");
    check(!unwanted.test(text), "control characters");
    check(!looseMarkup.test(withoutOurs(text)), `markup that is not ours: ${text.slice(0, 200)}`);
  }
  return complaints;
}

function within(text: string, least: number, most: number): boolean {
  return text.length >= least && text.length <= most;
}

// oxlint-disable-next-line no-control-regex -- these are what must not be there
const unwanted = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;

/** Mentions, dates and quotation marks of a block are ours; anything else that Slack would read as markup is injected. */
function withoutOurs(text: string): string {
  return text
    .replaceAll(
      /<@[UW][A-Z0-9]{2,31}>|<!date\^\d+\^\{date_short_pretty\} \{time\}\|\d{4}-\d\d-\d\d \d\d:\d\d UTC>/g,
      "",
    )
    .replaceAll(/^>/gm, "")
    .replaceAll(/&(amp|lt|gt);/g, "");
}

const looseMarkup = /[<>&]/;

export function buttonsOf(message: Pick<Message, "blocks">): Button[] {
  return message.blocks
    .flatMap(({ elements }) => elements ?? [])
    .filter((element): element is Button => element.type === "button");
}

function textsOf(message: Message): TextObject[] {
  return message.blocks.flatMap(({ text, fields, elements }) => [
    ...(text === undefined ? [] : [text]),
    ...(fields ?? []),
    ...(elements ?? []).map((element) => (element.type === "button" ? element.text : element)),
  ]);
}
