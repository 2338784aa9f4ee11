/**
 * The payloads of interactions, as Slack makes them for a click, a submission and a closed modal.
 */
import type { World } from "../core/world.ts";
import type { Block, Element } from "./block-kit.ts";
import { optionOf } from "./inputs.ts";
import { actorShape, viewShape } from "./shapes.ts";
import { app, team, type OpenView } from "./state.ts";

type Payload = Record<string, unknown>;

/** Old apps compared this token. It proves nothing but is still sent. */
const verificationToken = "sandbox-verification-token";

export function sharedFields(world: World, user: string): Payload {
  return {
    user: actorShape(world, user),
    api_app_id: app.id,
    token: verificationToken,
    team: { id: team.id, domain: team.domain },
    enterprise: null,
    is_enterprise_install: false,
  };
}

export interface FoundAction {
  readonly blockId: string;
  readonly element: Element;
}

/** The element with this action, among the buttons and choices of a message or a modal. */
export function findAction(blocks: readonly Block[], actionId: string, blockId?: string): FoundAction | undefined {
  for (const block of blocks) {
    if (blockId !== undefined && block.block_id !== blockId) continue;
    const elements: readonly Element[] =
      block.type === "actions"
        ? block.elements
        : block.type === "section" && block.accessory !== undefined
          ? [block.accessory]
          : [];
    const element = elements.find((each) => "action_id" in each && each.action_id === actionId);
    if (element !== undefined) return { blockId: block.block_id ?? "", element };
  }
  return undefined;
}

export function actionShape(found: FoundAction, actionTs: string, chosen: string | undefined): Payload {
  const { element } = found;
  const shape: Payload = { type: element.type, block_id: found.blockId, action_ts: actionTs };
  if (element.type === "image") return shape;
  shape["action_id"] = element.action_id;
  switch (element.type) {
    case "button":
      return {
        ...shape,
        text: element.text,
        value: element.value ?? "",
        ...(element.style && { style: element.style }),
      };
    case "static_select":
    case "radio_buttons":
    case "overflow":
      return { ...shape, selected_option: optionOf(element.options, chosen ?? null) ?? null };
    case "datepicker":
      return { ...shape, selected_date: chosen ?? null };
    case "users_select":
      return { ...shape, selected_user: chosen ?? null };
    default:
      return { ...shape, value: chosen ?? null };
  }
}

export function commandFields(
  world: World,
  given: {
    readonly user: string;
    readonly channel: { readonly id: string; readonly name: string };
    readonly command: string;
    readonly text: string;
    readonly triggerId: string;
    readonly responseUrl: string;
  },
): Record<string, string> {
  return {
    token: verificationToken,
    team_id: team.id,
    team_domain: team.domain,
    channel_id: given.channel.id,
    channel_name: given.channel.name,
    user_id: given.user,
    user_name: String(actorShape(world, given.user)["name"]),
    command: given.command,
    text: given.text,
    api_app_id: app.id,
    is_enterprise_install: "false",
    response_url: given.responseUrl,
    trigger_id: given.triggerId,
  };
}

export function submission(world: World, open: OpenView, values: Payload, triggerId: string): Payload {
  return {
    type: "view_submission",
    ...sharedFields(world, open.user),
    trigger_id: triggerId,
    view: viewShape(open, values),
    response_urls: [],
  };
}

export function closing(world: World, open: OpenView, isCleared: boolean): Payload {
  return { type: "view_closed", ...sharedFields(world, open.user), view: viewShape(open), is_cleared: isCleared };
}
