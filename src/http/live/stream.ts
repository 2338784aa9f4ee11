/**
 * One connected client: a response of the type text/event-stream, and which events were sent to it.
 *
 * Owns: the format of what is sent, counting what is unread, and hanging up on a client that does not read. Does not own: what it may see.
 *
 * The id of everything that is sent is a time before which the client was sent everything. A browser that reconnects sends the last id and
 * gets what came since, perhaps with some events twice: the event's own id tells them apart. Because ids advance with the events, a client
 * that is cut off in the middle of many still makes progress.
 */
import type { Reader } from "../route.ts";
import type { LiveEvent } from "./read-events.ts";
import type { Unread } from "./read-inbox.ts";
import { deferred } from "../../db/wait/deferred.ts";

/** A client that has this much unread is disconnected; it reconnects and resumes. */
const maxUnreadBytes = 1_048_576;
/** A client that has not read a page of events within this time is disconnected. */
const patienceMs = 10_000;

export const streamHeaders: Readonly<Record<string, string>> = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Proxies that collect answers before they pass them on would hold every event back.
  "x-accel-buffering": "no",
};

const encoder = new TextEncoder();

export class EventStream {
  /** Everything before this time was sent. */
  position: number;
  readonly response: Response;
  readonly #sent = new Map<string, number>();
  #noted = "";
  readonly #whenClosed: (() => void)[] = [];
  readonly #whenRead: (() => void)[] = [];
  readonly #reader: Reader;
  #letGo = (): void => undefined;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;

  constructor(position: number, signal: AbortSignal, reader: Reader) {
    this.position = position;
    this.#reader = reader;
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => {
          this.#count();
          for (const resolve of this.#whenRead.splice(0)) resolve();
        },
        cancel: () => this.#end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: maxUnreadBytes }),
    );
    this.response = new Response(body, { headers: streamHeaders });
    if (signal.aborted) this.close();
    else signal.addEventListener("abort", () => this.close(), { once: true });
  }

  /** Sends what was not sent yet. `upTo` is the time before which `events` is complete. */
  tell(events: readonly LiveEvent[], upTo: number): void {
    for (const event of events) {
      if (event.at < this.position || this.#sent.has(event.id)) continue;
      const { at: _at, ...shown } = event;
      const id = Math.max(this.position, Math.min(event.at, upTo));
      this.#send(`id: ${id}\ndata: ${JSON.stringify(shown)}\n\n`);
      this.#sent.set(event.id, event.at);
    }
    if (upTo <= this.position) return;
    this.position = upTo;
    for (const [id, at] of this.#sent) if (at < upTo) this.#sent.delete(id);
    // An id without data moves the browser's last id and triggers no handler.
    if (events.length > 0) this.#send(`id: ${this.position}\n\n`);
  }

  /** A named event for the client itself: `ready`, or `reset` when it must load everything again. */
  announce(name: "ready" | "reset"): void {
    this.#send(`event: ${name}\nid: ${this.position}\ndata: {}\n\n`);
  }

  /** A named event, `notifications`: the unread count. It has no id, because only the last one matters. Sent once per change. */
  note({ unread, latest }: Unread): void {
    const noted = JSON.stringify({ unread, latest });
    if (noted === this.#noted) return;
    this.#noted = noted;
    this.#send(`event: notifications\ndata: ${noted}\n\n`);
  }

  /** Keeps proxies from closing a quiet connection, and moves the client's position on. */
  beat(): void {
    this.#send(`: still here\nid: ${this.position}\n\n`);
  }

  close(): void {
    const controller = this.#controller;
    this.#end();
    controller?.close();
  }

  /** Called once, however it ends; immediately if it has ended already. */
  whenClosed(work: () => void): void {
    if (this.#controller === undefined) work();
    else this.#whenClosed.push(work);
  }

  /** Resolves when the client has read everything, or is gone. A client that takes too long is disconnected. */
  async read(): Promise<void> {
    if ((this.#controller?.desiredSize ?? maxUnreadBytes) >= maxUnreadBytes) return;
    const { promise, resolve } = deferred<void>();
    this.#whenRead.push(resolve);
    const late = setTimeout(() => this.#cut(), patienceMs);
    await promise;
    clearTimeout(late);
  }

  /** Closing would wait until everything was read. */
  #cut(): void {
    const controller = this.#controller;
    this.#end();
    if (this.#reader.cut === undefined) controller?.error(new Error("The client does not read."));
    else this.#reader.cut();
  }

  /** The unread bytes that are queued here. */
  #count(): void {
    this.#letGo();
    this.#letGo = this.#reader.hold(maxUnreadBytes - (this.#controller?.desiredSize ?? maxUnreadBytes));
  }

  #end(): void {
    this.#controller = undefined;
    this.#letGo();
    for (const work of [...this.#whenClosed.splice(0), ...this.#whenRead.splice(0)]) work();
  }

  #send(text: string): void {
    if (this.#controller === undefined) return;
    this.#controller.enqueue(encoder.encode(text));
    this.#count();
    if ((this.#controller.desiredSize ?? 0) <= 0 || !this.#reader.hasRoom()) this.#cut();
  }
}
