/**
 * Live updates from /events, over fetch, so that a token can be sent, which a browser's EventSource cannot.
 *
 * Owns: reading the stream, reconnecting where it broke, and telling each event once.
 */
import { z } from "zod";
import { HeadroomError } from "../db/errors.ts";
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
  /** Listening has begun: what is loaded from now on, and what is told, leave no gap. */
  readonly onReady?: (() => void) | undefined;
  /** Too much was missed while the connection was gone: load everything anew. */
  readonly onReset?: (() => void) | undefined;
}

const longestPauseMs = 30_000;
const mostRemembered = 2_000;

export async function subscribe(
  { url, fetch = globalThis.fetch }: ClientOptions,
  headers: () => Promise<Record<string, string>>,
  listen: (event: LiveEvent) => void,
  options: SubscribeOptions,
): Promise<void> {
  const { signal } = options;
  const state = { lastEventId: "", told: new Set<string>(), pauseMs: 0 };
  while (!signal.aborted) {
    try {
      const resume: Record<string, string> = state.lastEventId === "" ? {} : { "last-event-id": state.lastEventId };
      const response = await fetch(`${url.replace(/\/+$/, "")}/events`, {
        headers: { ...(await headers()), ...resume },
        signal,
      });
      if (response.status >= 400 && response.status < 500 && response.status !== 429) throw refused(response.status);
      if (response.ok) await readStream(response, state, listen, options);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof HeadroomError) throw error;
    }
    state.pauseMs = Math.min(longestPauseMs, Math.max(500, state.pauseMs * 2));
    await pause(state.pauseMs, signal);
  }
}

function refused(status: number): HeadroomError {
  return new HeadroomError("not_signed_in", "The server does not let this token listen.", {
    httpStatus: status,
    hint: "Use a member's token that is valid.",
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
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    state.pauseMs = 0;
    const blocks = (text + value).split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) take(block, state, listen, options);
  }
}

function take(block: string, state: State, listen: (event: LiveEvent) => void, options: SubscribeOptions): void {
  const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
  const data = field("data");
  const name = field("event");
  if (name === "ready") options.onReady?.();
  else if (name === "reset") options.onReset?.();
  else if (name === undefined && data !== undefined) {
    const event = eventSchema.parse(JSON.parse(data));
    if (!state.told.has(event.id)) {
      state.told.add(event.id);
      if (state.told.size > mostRemembered) state.told.delete(state.told.values().next().value ?? "");
      listen(event);
    }
  }
  state.lastEventId = field("id") ?? state.lastEventId;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
