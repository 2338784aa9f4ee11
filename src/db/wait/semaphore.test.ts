import { expect, test } from "vitest";
import { Semaphore } from "./semaphore.ts";

/** Work that begins when it may, and ends when it is told to. */
function held(semaphore: Semaphore, name: string, begun: string[]) {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const answer = semaphore.use(() => {
    begun.push(name);
    return promise;
  });
  return { answer, end: () => resolve(name), fail: (error: Error) => reject(error) };
}

test("a semaphore runs as many as it has room for, and the others in the order in which they came", async () => {
  const semaphore = new Semaphore(2);
  const begun: string[] = [];
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => held(semaphore, name, begun));
  expect(begun).toEqual(["a", "b"]);
  b?.end();
  expect(await b?.answer).toBe("b");
  expect(begun).toEqual(["a", "b", "c"]);
  a?.end();
  c?.end();
  d?.end();
  expect(await Promise.all([a?.answer, c?.answer, d?.answer])).toEqual(["a", "c", "d"]);
  expect(begun).toEqual(["a", "b", "c", "d"]);
});

test("work of a semaphore that fails makes room for the next", async () => {
  const semaphore = new Semaphore(1);
  const begun: string[] = [];
  const first = held(semaphore, "first", begun);
  const second = held(semaphore, "second", begun);
  first.fail(new Error("broken"));
  second.end();
  await expect(first.answer).rejects.toThrow("broken");
  expect(await second.answer).toBe("second");
});

test("whoever comes while a place is handed over does not overtake those who wait", async () => {
  const semaphore = new Semaphore(1);
  const begun: string[] = [];
  const first = held(semaphore, "first", begun);
  const waiting = held(semaphore, "waiting", begun);
  first.end();
  const newcomer = first.answer.then(() => held(semaphore, "newcomer", begun));
  waiting.end();
  const last = await newcomer;
  last.end();
  await Promise.all([waiting.answer, last.answer]);
  expect(begun).toEqual(["first", "waiting", "newcomer"]);
});
