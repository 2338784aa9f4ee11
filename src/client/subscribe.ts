/**
 * Live updates from /events, over fetch, so that a token can be sent, which a browser's EventSource cannot.
 *
 * Owns: reading the stream, reconnecting when it breaks, and reporting each event once. An error from the caller's own functions (the
 * listener, the callbacks, the token's source) ends the subscription and is thrown to the caller.
 */
import { z } from "zod";
import { HeadroomError } from "../db/errors.ts";
import { pause } from "../db/wait/pause.ts";
import type { ClientOptions } from "./transport.ts";

const eventSchema = z.looseObject({
  id: z.string(),
  capacity_request_id: z.string(),
  seq: z.number(),
  event_type: z.string(),
  actor_id: z.string(),
  state_before: z.string(),
  state_after: z.string(),
  created_at: z.coerce.date(),
});
export type LiveEvent = z.infer<typeof eventSchema>;

export interface SubscribeOptions {
  /** Ends the subscription. */
  readonly signal: AbortSignal;
  /** Listening has begun: there is no gap between what is loaded from now on and the reported events. */
  readonly onReady?: (() => void) | undefined;
  /** Too much was missed while the connection was gone: load everything again. */
  readonly onReset?: (() => void) | undefined;
}

const longestPauseMs = 30_000;
const maxRemembered = 2_000;

export async function subscribe(
  { url, fetch = globalThis.fetch }: ClientOptions,
  headers: () => Promise<Record<string, string>>,
  listen: (event: LiveEvent) => void,
  options: SubscribeOptions,
): Promise<void> {
  const { signal } = options;
  const state = { lastEventId: "", told: new Set<string>(), pauseMs: 0 };
  while (!signal.aborted) {
    // Not retried: a caller without a token must not be asked for one repeatedly.
    const sent = await headers();
    const resume: Record<string, string> = state.lastEventId === "" ? {} : { "last-event-id": state.lastEventId };
    const response = await fetch(`${url.replace(/\/+$/, "")}/events`, {
      headers: { ...sent, ...resume },
      signal,
    }).catch(() => undefined);
    if (response?.ok === true) await readStream(response, state, listen, options);
    else await response?.body?.cancel().catch(() => undefined);
    if (signal.aborted) return;
    const status = response?.status ?? 503;
    if (status >= 400 && status < 500 && status !== 429) throw refused(status);
    state.pauseMs = Math.min(longestPauseMs, Math.max(500, state.pauseMs * 2));
    await pause(state.pauseMs, signal);
  }
}

function refused(status: number): HeadroomError {
  return new HeadroomError("not_signed_in", "The server refused live updates for this token.", {
    httpStatus: status,
    hint: "Use a valid token of a member.",
  });
}

interface State {
  lastEventId: string;
  readonly told: Set<string>;
  pauseMs: number;
}

async function readStream(
  response: Response,
  state: State,
  listen: (event: LiveEvent) => void,
  options: SubscribeOptions,
): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) return;
  let text = "";
  try {
    for (;;) {
      // A broken connection is a reason to reconnect; errors of the listener are not caught here.
      const piece = await reader.read().catch(() => undefined);
      if (piece === undefined || piece.done) return;
      state.pauseMs = 0;
      const blocks = (text + piece.value).split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) take(block, state, listen, options);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function take(block: string, state: State, listen: (event: LiveEvent) => void, options: SubscribeOptions): void {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  const data = field("data");
  const name = field("event");
  if (name === "ready") options.onReady?.();
  else if (name === "reset") options.onReset?.();
  else if (name === undefined && data !== undefined) {
    const event = readEvent(data);
    if (!state.told.has(event.id)) {
      listen(event);
      state.told.add(event.id);
      if (state.told.size > maxRemembered) state.told.delete(state.told.values().next().value ?? "");
    }
  }
  state.lastEventId = field("id") ?? state.lastEventId;
}

function readEvent(data: string): LiveEvent {
  try {
    return eventSchema.parse(JSON.parse(data));
  } catch (cause) {
    throw new HeadroomError("unexpected_answer", "The server sent an event in an unknown format.", {
      hint: "Use the client of the same version as the server.",
      cause,
    });
  }
}
