/**
 * Submitting and closing a modal, and what the app's answer does to the stack of modals.
 */
import { z } from "zod";
import type { SendResult } from "../core/webhook-sender.ts";
import type { World } from "../core/world.ts";
import { replace, stacked, viewOf } from "./api-views.ts";
import { SlackError } from "./arguments.ts";
import { mistakes, stateValues, type FilledIn } from "./inputs.ts";
import { closing, submission } from "./interactions.ts";
import { failureOf, sendForm } from "./outgoing.ts";
import type { OpenView, SlackState } from "./state.ts";

export type SubmitResult =
  /** The app accepted it: this modal, or all of them, close. */
  | { readonly kind: "closed" }
  /** Errors by block id, from Slack before sending, or from the app. The modal stays open. */
  | { readonly kind: "errors"; readonly errors: Readonly<Record<string, string>> }
  | { readonly kind: "updated" }
  | { readonly kind: "pushed"; readonly viewId: string }
  | { readonly kind: "failed"; readonly error: string; readonly arrival: SendResult | undefined };

const answerSchema = z.discriminatedUnion("response_action", [
  z.object({ response_action: z.literal("errors"), errors: z.record(z.string(), z.string()) }),
  z.object({ response_action: z.literal("update"), view: z.unknown().optional() }),
  z.object({ response_action: z.literal("push"), view: z.unknown().optional() }),
  z.object({ response_action: z.literal("clear") }),
]);

export async function submitView(
  world: World,
  state: SlackState,
  open: OpenView,
  values: FilledIn,
): Promise<SubmitResult> {
  open.values = values;
  const wrong = mistakes(open.view.blocks, values);
  if (Object.keys(wrong).length > 0) return withErrors(open, wrong);
  const payload = submission(world, open, stateValues(open.view.blocks, values), state.newTrigger(open.user));
  const arrival = await sendForm(world, `submit "${open.view.title.text}"`, { payload: JSON.stringify(payload) });
  world.changed();
  const failure = failureOf(arrival);
  if (failure !== undefined || arrival.kind !== "answered") {
    open.errors = { "": "We had some trouble connecting. Try again?" };
    return { kind: "failed", error: failure ?? "dispatch_failed", arrival };
  }
  return follow(world, state, open, arrival);
}

export async function closeView(world: World, state: SlackState, open: OpenView): Promise<void> {
  const cleared = open.view.clear_on_close === true;
  const stack = state.viewsOf(open.user);
  state.views.set(open.user, cleared ? [] : stack.filter((each) => each !== open));
  world.changed();
  if (open.view.notify_on_close !== true) return;
  const payload = JSON.stringify(closing(world, open, cleared));
  await sendForm(world, `close "${open.view.title.text}"`, { payload });
}

function follow(
  world: World,
  state: SlackState,
  open: OpenView,
  arrival: Extract<SendResult, { kind: "answered" }>,
): SubmitResult {
  const answer = parseAnswer(arrival.body);
  if (answer === "unreadable") {
    open.errors = { "": "We had some trouble connecting. Try again?" };
    return { kind: "failed", error: "invalid_app_response", arrival };
  }
  try {
    switch (answer?.response_action) {
      case "errors":
        return withErrors(open, answer.errors);
      case "update":
        replace(world, open, viewOf(state, answer.view, open));
        return { kind: "updated" };
      case "push":
        return { kind: "pushed", viewId: stacked(world, state, viewOf(state, answer.view), open.user).id };
      case "clear":
        state.views.set(open.user, []);
        return { kind: "closed" };
      default:
        state.views.set(
          open.user,
          state.viewsOf(open.user).filter((each) => each !== open),
        );
        return { kind: "closed" };
    }
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    open.errors = { "": `The app's answer was refused: ${error.error} ${error.messages.join(" ")}`.trim() };
    return { kind: "failed", error: error.error, arrival };
  }
}

function withErrors(open: OpenView, errors: Readonly<Record<string, string>>): SubmitResult {
  open.errors = errors;
  return { kind: "errors", errors };
}

/** Undefined for an empty answer, which closes the modal. */
function parseAnswer(body: string): z.infer<typeof answerSchema> | undefined | "unreadable" {
  const words = body.trim();
  if (words === "" || words === "null" || words === "{}" || words === '""') return undefined;
  try {
    const parsed = answerSchema.safeParse(JSON.parse(words));
    return parsed.success ? parsed.data : "unreadable";
  } catch {
    return "unreadable";
  }
}
