/**
 * The Web API's modals: a trigger can be exchanged once, within three seconds, for a view shown to the person who caused it.
 */
import { z } from "zod";
import type { World } from "../core/world.ts";
import { optionalText, parse, SlackError, type Arguments } from "./arguments.ts";
import { complaints, named, viewSchema, type ViewInput } from "./block-kit.ts";
import { viewShape } from "./shapes.ts";
import type { OpenView, SlackState } from "./state.ts";

type Answer = Record<string, unknown>;

const maxStack = 3;
const maxViewBytes = 250_000;

const openArguments = z.object({
  trigger_id: optionalText,
  interactivity_pointer: optionalText,
  view: z.unknown().optional(),
});
const updateArguments = z.object({
  view_id: optionalText,
  external_id: optionalText,
  hash: optionalText,
  view: z.unknown().optional(),
});

export function open(world: World, state: SlackState, given: Arguments): Answer {
  const wanted = parse(openArguments, given);
  const view = viewOf(state, wanted.view);
  const user = exchange(world, state, wanted.trigger_id ?? wanted.interactivity_pointer);
  const opened = newView(world, view, user, undefined);
  // A new root replaces the modals that the person had open.
  state.views.set(user, [opened]);
  return { view: viewShape(opened) };
}

export function push(world: World, state: SlackState, given: Arguments): Answer {
  const wanted = parse(openArguments, given);
  const view = viewOf(state, wanted.view);
  const trigger = wanted.trigger_id ?? wanted.interactivity_pointer;
  const stack = state.viewsOf(state.triggers.get(trigger ?? "")?.user ?? "");
  if (stack.length >= maxStack) throw new SlackError("push_limit_reached");
  const user = exchange(world, state, trigger);
  return { view: viewShape(stacked(world, state, view, user)) };
}

export function update(world: World, state: SlackState, given: Arguments): Answer {
  const wanted = parse(updateArguments, given);
  const found = state.findView((each) =>
    wanted.view_id === undefined
      ? wanted.external_id !== undefined && each.view.external_id === wanted.external_id
      : each.id === wanted.view_id,
  );
  if (found === undefined) throw new SlackError("not_found");
  if (wanted.hash !== undefined && wanted.hash !== found.hash) throw new SlackError("hash_conflict");
  replace(world, found, viewOf(state, wanted.view, found));
  return { view: viewShape(found) };
}

/** Pushes a view on top of those that the person has open. */
export function stacked(world: World, state: SlackState, view: ViewInput, user: string): OpenView {
  const stack = state.viewsOf(user);
  const opened = newView(world, view, user, stack.at(-1));
  stack.push(opened);
  return opened;
}

export function replace(world: World, current: OpenView, view: ViewInput): void {
  current.view = view;
  current.hash = nextHash(world);
  current.errors = {};
  current.values = {};
}

export function viewOf(state: SlackState, given: unknown, itself?: OpenView): ViewInput {
  if (given === undefined) throw new SlackError("invalid_arguments", ["[ERROR] missing required field: view"]);
  if (JSON.stringify(given).length > maxViewBytes) throw new SlackError("view_too_large");
  const checked = viewSchema.safeParse(given);
  if (!checked.success) throw new SlackError("invalid_arguments", complaints(checked.error, "view"));
  const external = checked.data.external_id;
  const taken =
    external !== undefined && external !== "" && state.findView((each) => each.view.external_id === external);
  if (taken !== false && taken !== undefined && taken !== itself) throw new SlackError("duplicate_external_id");
  return { ...checked.data, blocks: named(checked.data.blocks, () => state.nextBlockId()) };
}

function newView(world: World, view: ViewInput, user: string, below: OpenView | undefined): OpenView {
  const id = world.ids.next("V");
  return {
    id,
    user,
    rootId: below?.rootId ?? id,
    previousId: below?.id,
    view,
    hash: nextHash(world),
    errors: {},
    values: {},
  };
}

function nextHash(world: World): string {
  return `${Math.floor(world.now() / 1000)}.${world.ids.next("", 8)}`;
}

function exchange(world: World, state: SlackState, triggerId: string | undefined): string {
  const trigger = state.triggers.get(triggerId ?? "");
  if (trigger === undefined) throw new SlackError("invalid_trigger_id");
  if (world.now() > trigger.expiresAt) throw new SlackError("expired_trigger_id");
  if (trigger.used) throw new SlackError("exchanged_trigger_id");
  trigger.used = true;
  return trigger.user;
}
