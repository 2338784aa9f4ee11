/**
 * Counts the messages to the database that are waited for: each call of the driver is answered as a whole, and a batch of statements is
 * one call.
 */
import { Client } from "pg";

/** Counts for all clients of the process until it is stopped. */
export function countRoundTrips(): { stop(): void; count(): number } {
  type Query = (this: Client, ...args: unknown[]) => unknown;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- all overloads of the driver's function reduce to this.
  const prototype = Client.prototype as unknown as { query: Query };
  const original = prototype.query;
  let count = 0;
  prototype.query = function counted(...args) {
    count += 1;
    return original.apply(this, args);
  };
  return {
    stop: () => {
      prototype.query = original;
    },
    count: () => count,
  };
}
