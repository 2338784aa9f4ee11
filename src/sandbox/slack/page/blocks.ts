/**
 * Block Kit as HTML: what a message or a modal shows, with buttons that are forms.
 *
 * Owns: how blocks look and where their forms go. Does not own: the inputs of a modal (inputs.ts).
 */
import { html } from "hono/html";
import type { Fragment, Html } from "../../pages/layout.ts";
import type { Block, Element, TextObject } from "../block-kit.ts";
import { mrkdwn, plainText, type Names } from "./mrkdwn.ts";

/** The message or modal of a button, which its form sends along. */
export interface Place {
  readonly user: string;
  readonly channel: string;
  readonly ts?: string | undefined;
  readonly viewId?: string | undefined;
  readonly names: Names;
}

export function blocksHtml(
  blocks: readonly Block[],
  place: Place,
  input: (block: Block) => Fragment = () => null,
): Html {
  return html`<div class="blocks">${blocks.map((block) => blockHtml(block, place, input))}</div>`;
}

function blockHtml(block: Block, place: Place, input: (block: Block) => Fragment): Fragment {
  switch (block.type) {
    case "header":
      return html`<h3>${plainText(block.text.text)}</h3>`;
    case "divider":
      return html`<hr />`;
    case "image":
      return html`<p class="quiet">[image: ${block.alt_text}]</p>`;
    case "context":
      return html`<div class="context">
        ${block.elements.map((each) => html`<span>${each.type === "image" ? each.alt_text : textHtml(each, place)}</span>`)}
      </div>`;
    case "section":
      return html`<div>
        ${block.text !== undefined && html`<div>${textHtml(block.text, place)}</div>`}
        ${
          block.fields !== undefined &&
          html`<div class="fields">${block.fields.map((field) => html`<div>${textHtml(field, place)}</div>`)}</div>`
        }
        ${block.accessory !== undefined && elementHtml(block.accessory, block.block_id ?? "", place)}
      </div>`;
    case "actions":
      return html`<div class="buttons">
        ${block.elements.map((element) => elementHtml(element, block.block_id ?? "", place))}
      </div>`;
    default:
      return input(block);
  }
}

export function textHtml(text: TextObject, place: Place): Fragment {
  return text.type === "mrkdwn" ? mrkdwn(text.text, place.names) : plainText(text.text);
}

function elementHtml(element: Element, blockId: string, place: Place): Fragment {
  if (element.type === "image") return html`<p class="quiet">[image: ${element.alt_text}]</p>`;
  const action = element.action_id ?? "";
  if (place.viewId !== undefined) return inModal(element, blockId, action);
  const opening = html`<input type="hidden" name="as" value="${place.user}" />
    <input type="hidden" name="channel" value="${place.channel}" />
    <input type="hidden" name="ts" value="${place.ts ?? ""}" />
    <input type="hidden" name="block" value="${blockId}" />
    <input type="hidden" name="action" value="${action}" />`;
  if (element.type === "button") {
    const label = element.accessibility_label;
    return html`<form method="post" action="/slack/act/click">
      ${opening}
      <button class="${element.style ?? ""}" ${label !== undefined && html`aria-label="${label}"`}>
        ${plainText(element.text.text)}
      </button>
    </form>`;
  }
  return html`<form method="post" action="/slack/act/click" class="row">
    ${opening} ${chooser(element)} <button class="tight">Choose</button>
  </form>`;
}

/** HTML forms cannot be nested, so a modal's buttons belong to the modal's form. */
function inModal(element: Exclude<Element, { type: "image" }>, blockId: string, action: string): Fragment {
  if (element.type !== "button") return html`<p class="quiet">[${element.type} outside an input]</p>`;
  return html`<button
    class="${element.style ?? ""}"
    formaction="/slack/act/press"
    name="press"
    value="${JSON.stringify([blockId, action])}"
  >
    ${plainText(element.text.text)}
  </button>`;
}

function chooser(element: Exclude<Element, { type: "button" | "image" }>): Fragment {
  switch (element.type) {
    case "static_select":
    case "multi_static_select":
    case "radio_buttons":
    case "checkboxes":
    case "overflow":
      return html`<select name="chosen" aria-label="Choice">
        ${element.options.map((option) => html`<option value="${option.value}">${plainText(option.text.text)}</option>`)}
      </select>`;
    default:
      return html`<input
        name="chosen"
        type="${element.type === "datepicker" ? "date" : "text"}"
        aria-label="Choice"
      />`;
  }
}
