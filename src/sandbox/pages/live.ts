/**
 * Notifies open pages of changes, by server-sent events, and lets a form wait briefly for its effect.
 *
 * Owns: the listeners and their bound. Does not own: what changed; a page reloads itself.
 */
import { deferred } from "../../db/wait/deferred.ts";
const coalesceMs = 120;
const heartbeatMs = 15_000;
const maxListeners = 100;

export class Live {
  readonly #closing: AbortSignal;
  #listeners = new Set<() => void>();

  constructor(closing: AbortSignal) {
    this.#closing = closing;
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Resolves at the next change, or after `ms`. */
  async next(ms: number): Promise<void> {
    const { promise, resolve } = deferred<undefined>();
    const done = (): void => resolve(undefined);
    const timer = setTimeout(done, ms);
    this.#listeners.add(done);
    this.#closing.addEventListener("abort", done);
    await promise;
    clearTimeout(timer);
    this.#listeners.delete(done);
    this.#closing.removeEventListener("abort", done);
  }

  stream(signal: AbortSignal): Response {
    if (this.#listeners.size >= maxListeners) return new Response("Too many pages are open.", { status: 503 });
    const end = AbortSignal.any([signal, this.#closing]);
    const body = new ReadableStream<Uint8Array>({ start: (controller) => this.#feed(controller, end) });
    return new Response(body, { headers: { "content-type": "text/event-stream", "cache-control": "no-store" } });
  }

  #feed(controller: ReadableStreamDefaultController<Uint8Array>, end: AbortSignal): void {
    let timer: NodeJS.Timeout | undefined;
    const say = (text: string): void => controller.enqueue(Buffer.from(text));
    const tell = (): void => {
      timer ??= setTimeout(() => {
        timer = undefined;
        say("data: changed\n\n");
      }, coalesceMs);
    };
    const heartbeat = setInterval(() => say(": still here\n\n"), heartbeatMs);
    this.#listeners.add(tell);
    say(": hello\n\n");
    const stop = (): void => {
      this.#listeners.delete(tell);
      clearTimeout(timer);
      clearInterval(heartbeat);
      try {
        controller.close();
      } catch {
        // The page was closed; its stream is closed already.
      }
    };
    if (end.aborted) stop();
    else end.addEventListener("abort", stop, { once: true });
  }
}
