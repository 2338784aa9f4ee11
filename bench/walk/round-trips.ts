/**
 * Counts the messages to the database that are waited for: whatever is given to the driver is answered as a whole, and a batch of statements
 * is given to it at once.
 */
import { Client } from "pg";

/** Until it is stopped, for all clients of the process. */
export function countRoundTrips(): { stop(): void; count(): number } {
  type Query = (this: Client, ...args: unknown[]) => unknown;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the driver's overloads all come down to this.
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
