/** A client of server-sent events, which reads them byte by byte as they arrive. */
import { expect, onTestFinished } from "vitest";

export interface Told {
  readonly id: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface EventReader {
  readonly response: Response;
  readonly events: readonly Told[];
  /** Events with a name, in order. */
  readonly names: readonly string[];
  /** The number of unread notifications, each time it was sent. */
  readonly unread: readonly number[];
  readonly lastEventId: string;
  /** Resolves when the server ends the stream. */
  readonly ended: Promise<void>;
  until(test: (events: readonly Told[]) => boolean): Promise<readonly Told[]>;
  /** Waits until that many are unread. */
  untilUnread(count: number): Promise<void>;
  /** Waits for that many more heartbeats. */
  beats(count: number): Promise<void>;
  close(): Promise<void>;
}

const boundMs = 15_000;

export async function listen(url: string, headers: Record<string, string>): Promise<EventReader> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const response = await fetch(url, { headers, signal: stop.signal });
  expect(response.status).toBe(200);
  const state = { events: [] as Told[], names: [] as string[], unread: [] as number[], lastEventId: "", beats: 0 };
  let wake = Promise.withResolvers<void>();
  const take = (block: string): void => {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, "m").exec(block)?.[1];
    state.lastEventId = field("id") ?? state.lastEventId;
    const [name, data] = [field("event"), field("data")];
    if (block.startsWith(":")) state.beats += 1;
    else if (name === "notifications") state.unread.push((JSON.parse(data ?? "{}") as { unread: number }).unread);
    else if (name !== undefined) state.names.push(name);
    else if (data !== undefined) state.events.push({ id: state.lastEventId, data: JSON.parse(data) });
    wake.resolve();
    wake = Promise.withResolvers();
  };
  const read = async (): Promise<void> => {
    let text = "";
    const decoder = new TextDecoder();
    for await (const piece of response.body ?? []) {
      text += decoder.decode(piece, { stream: true });
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) take(block);
    }
  };
  const ended = read().catch(() => undefined);
  const until = async (test: () => boolean): Promise<void> => {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => late.resolve(), boundMs);
    const deadline = performance.now() + boundMs;
    while (!test()) {
      if (performance.now() >= deadline)
        throw new Error(`It was not received in time. So far: ${JSON.stringify(state)}`);
      await Promise.race([wake.promise, late.promise]);
    }
    clearTimeout(timer);
  };
  return {
    response,
    events: state.events,
    names: state.names,
    unread: state.unread,
    get lastEventId() {
      return state.lastEventId;
    },
    ended,
    async until(test) {
      await until(() => test(state.events));
      return state.events;
    },
    untilUnread: (count) => until(() => state.unread.at(-1) === count),
    async beats(count) {
      const wanted = state.beats + count;
      await until(() => state.beats >= wanted);
    },
    async close() {
      stop.abort();
      await ended;
    },
  };
}
