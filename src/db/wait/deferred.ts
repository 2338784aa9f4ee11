/** A promise that is settled from outside. `Promise.withResolvers` does the same, from Node 22 on; the library also runs on 20. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  readonly resolve: (value: T | PromiseLike<T>) => void;
  readonly reject: (reason: unknown) => void;
}

export function deferred<T>(): Deferred<T> {
  let resolve: Deferred<T>["resolve"] | undefined;
  let reject: Deferred<T>["reject"] | undefined;
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  if (resolve === undefined || reject === undefined) throw new Error("A promise calls its executor at once.");
  return { promise, resolve, reject };
}
