/**
 * The values that a person entered in a modal: checked like in Slack's client, and put in the form of `view.state.values`.
 */
import type { Block, InputElement, Option } from "./block-kit.ts";

/** By block id; several if several can be chosen. */
export type FilledIn = Readonly<Record<string, string | readonly string[]>>;

type InputBlock = Extract<Block, { type: "input" }>;

export function inputBlocks(blocks: readonly Block[]): InputBlock[] {
  return blocks.filter((block) => block.type === "input");
}

/** The errors by block id; empty if the form can be sent. */
export function mistakes(blocks: readonly Block[], filledIn: FilledIn): Record<string, string> {
  const found: Record<string, string> = {};
  for (const block of inputBlocks(blocks)) {
    const complaint = mistakeOf(block, valuesOf(filledIn, block));
    if (complaint !== undefined) found[block.block_id ?? ""] = complaint;
  }
  return found;
}

/** `{ [block id]: { [action id]: { type, value … } } }`, with null for empty fields. */
export function stateValues(
  blocks: readonly Block[],
  filledIn: FilledIn,
): Record<string, Record<string, Record<string, unknown>>> {
  return Object.fromEntries(
    inputBlocks(blocks).map((block) => [
      block.block_id ?? "",
      { [block.element.action_id ?? ""]: valueOf(block.element, valuesOf(filledIn, block)) },
    ]),
  );
}

/** Tests name a field by its block or by its action; the page names it by its block. */
function valuesOf(filledIn: FilledIn, block: InputBlock): readonly string[] {
  const given = filledIn[block.block_id ?? ""] ?? filledIn[block.element.action_id ?? ""] ?? [];
  return (typeof given === "string" ? [given] : given).filter((value) => value !== "");
}

function mistakeOf(block: InputBlock, values: readonly string[]): string | undefined {
  const [first] = values;
  const { element } = block;
  if (first === undefined) return block.optional === true ? undefined : "Please complete this required field.";
  switch (element.type) {
    case "plain_text_input":
      if (first.length > (element.max_length ?? 3000))
        return `Please shorten this to ${element.max_length ?? 3000} characters or fewer.`;
      if (first.length < (element.min_length ?? 0)) return `Please write at least ${element.min_length} characters.`;
      return undefined;
    case "number_input":
      return numberMistake(element, first);
    case "datepicker":
      return /^\d{4}-\d\d-\d\d$/.test(first) && !Number.isNaN(Date.parse(first)) ? undefined : "Please choose a date.";
    case "email_text_input":
      return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(first) ? undefined : "Please enter a valid email address.";
    case "url_text_input":
      return URL.canParse(first) ? undefined : "Please enter a valid URL.";
    case "users_select":
      return undefined;
    default:
      return values.every((value) => optionOf(element.options, value) !== undefined)
        ? undefined
        : "Please choose one of the options.";
  }
}

function numberMistake(element: Extract<InputElement, { type: "number_input" }>, text: string): string | undefined {
  const pattern = element.is_decimal_allowed ? /^-?\d+(\.\d+)?$/ : /^-?\d+$/;
  if (!pattern.test(text))
    return element.is_decimal_allowed ? "Please enter a number." : "Please enter a whole number.";
  if (element.min_value !== undefined && Number(text) < Number(element.min_value))
    return `Please enter ${element.min_value} or more.`;
  if (element.max_value !== undefined && Number(text) > Number(element.max_value))
    return `Please enter ${element.max_value} or less.`;
  return undefined;
}

export function valueOf(element: InputElement, values: readonly string[]): Record<string, unknown> {
  const first = values[0] ?? null;
  switch (element.type) {
    case "static_select":
    case "radio_buttons":
      return { type: element.type, selected_option: optionOf(element.options, first) ?? null };
    case "multi_static_select":
    case "checkboxes":
      return {
        type: element.type,
        selected_options: values.flatMap((value) => optionOf(element.options, value) ?? []),
      };
    case "datepicker":
      return { type: element.type, selected_date: first };
    case "users_select":
      return { type: element.type, selected_user: first };
    default:
      return { type: element.type, value: first };
  }
}

export function optionOf(options: readonly Option[], value: string | null): Option | undefined {
  return options.find((option) => option.value === value);
}
