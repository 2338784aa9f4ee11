/** How much of a stream is kept in memory when its client does not read. */
import { expect, it } from "vitest";
import { HeldBytes } from "../held-bytes.ts";
import type { Reader } from "../route.ts";
import { EventStream } from "./stream.ts";

const maxUnread = 1_048_576;

function readerOf(held: HeldBytes, caller: string): { reader: Reader; cuts: () => number } {
  let cuts = 0;
  return {
    reader: {
      hold: (bytes) => held.hold(caller, bytes),
      hasRoom: () => held.hasRoom(caller, 0),
      cut: () => void (cuts += 1),
    },
    cuts: () => cuts,
  };
}

function event(at: number) {
  return [{ id: `e${at}`, workspace_id: "acme", at, payload: "x".repeat(10_000) }];
}

it("unread data is counted until the client has read it", async () => {
  const held = new HeldBytes({ maxOfOne: 50_000 });
  const { reader, cuts } = readerOf(held, "rita");
  const stream = new EventStream(1, new AbortController().signal, reader);
  for (let at = 2; at < 6; at += 1) stream.tell(event(at), at);
  expect([held.hasRoom("rita", 5_000), held.hasRoom("rita", 11_000)]).toEqual([true, false]);
  const body = stream.response.body?.getReader();
  const read = stream.read();
  for (let pieces = 0; pieces < 8; pieces += 1) await body?.read();
  await read;
  expect([held.hasRoom("rita", 50_000), cuts()]).toEqual([true, 0]);
});

it("a client that leaves too much unread is disconnected immediately, and nothing is kept for it", () => {
  const held = new HeldBytes({ maxOfOne: 10 * maxUnread });
  const { reader, cuts } = readerOf(held, "rita");
  const stream = new EventStream(1, new AbortController().signal, reader);
  for (let at = 2; at < 200; at += 1) stream.tell(event(at), at);
  expect([cuts(), held.hasRoom("rita", 10 * maxUnread)]).toEqual([1, true]);
});

it("streams of one member count together with everything else that is kept for that member", () => {
  const held = new HeldBytes({ maxOfOne: 100_000 });
  const streams = Array.from({ length: 8 }, () => {
    const { reader, cuts } = readerOf(held, "rita");
    return { cuts, stream: new EventStream(1, new AbortController().signal, reader) };
  });
  const other = readerOf(held, "rob");
  const others = new EventStream(1, new AbortController().signal, other.reader);
  for (const { stream } of streams) stream.tell([...event(2), ...event(3)], 4);
  others.tell([...event(2), ...event(3)], 4);
  expect(streams.map(({ cuts }) => cuts()).reduce((sum, count) => sum + count)).toBeGreaterThan(0);
  expect([held.hasRoom("rita", 0), other.cuts()]).toEqual([true, 0]);
});
