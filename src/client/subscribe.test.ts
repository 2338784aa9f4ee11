/** What ends a subscription, and what it survives. The server's side is under test/integration/http. */
import { getEventListeners } from "node:events";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createClient } from "./index.ts";

const event = {
  id: "e1",
  capacity_request_id: "CR-1",
  seq: 1,
  event_type: "REQUEST_SUBMITTED",
  actor_id: "rita",
  state_before: "DRAFT",
  state_after: "UNDER_REVIEW",
  created_at: "2026-01-01T00:00:00Z",
};

function streamOf(...blocks: string[]): { response: Response; cancelled: () => boolean } {
  let cancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      for (const block of blocks) controller.enqueue(new TextEncoder().encode(`${block}\n\n`));
    },
    cancel: () => void (cancelled = true),
  });
  return { response: new Response(body), cancelled: () => cancelled };
}

function clientWith(fetch: typeof globalThis.fetch, token: string | (() => string) = "t") {
  return createClient({ url: "http://headroom.example", key: "k", token, fetch });
}

afterEach(() => void vi.useRealTimers());

describe("a subscription", () => {
  test("ends with what its listener throws, and lets the connection go", async () => {
    const { response, cancelled } = streamOf(`id: 1\ndata: ${JSON.stringify(event)}`);
    const client = clientWith(() => Promise.resolve(response));
    const listening = client.subscribe(
      () => {
        throw new RangeError("the listener's own");
      },
      { signal: new AbortController().signal },
    );
    await expect(listening).rejects.toThrow(new RangeError("the listener's own"));
    expect(cancelled()).toBe(true);
  });

  test("ends with what its callbacks throw", async () => {
    const client = clientWith(() => Promise.resolve(streamOf("event: ready\nid: 1\ndata: {}").response));
    const listening = client.subscribe(() => undefined, {
      signal: new AbortController().signal,
      onReady() {
        throw new RangeError("could not load");
      },
    });
    await expect(listening).rejects.toThrow("could not load");
  });

  test("ends when no token can be had", async () => {
    const client = clientWith(
      () => Promise.reject(new Error("never asked")),
      () => {
        throw new RangeError("signed out");
      },
    );
    const listening = client.subscribe(() => undefined, { signal: new AbortController().signal });
    await expect(listening).rejects.toThrow("signed out");
  });

  test("ends when the server tells what cannot be read", async () => {
    const client = clientWith(() => Promise.resolve(streamOf("id: 1\ndata: {nonsense").response));
    const listening = client.subscribe(() => undefined, { signal: new AbortController().signal });
    await expect(listening).rejects.toMatchObject({ code: "unexpected_answer" });
  });

  test("survives a server that cannot be reached, and leaves nothing on the signal", async () => {
    vi.useFakeTimers();
    const stop = new AbortController();
    let tries = 0;
    const client = clientWith(() => {
      tries += 1;
      return Promise.reject(new TypeError("fetch failed"));
    });
    const listening = client.subscribe(() => undefined, { signal: stop.signal });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(tries).toBeGreaterThan(4);
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(1);
    stop.abort();
    await listening;
    expect(getEventListeners(stop.signal, "abort")).toHaveLength(0);
  });
});
