/**
 * The work itself: the body of about 200 bytes that every contender carries, and how keys and numbers within
 * a key are laid out. The same index gives the same body in TypeScript and in SQL.
 */

const PADDING = "x".repeat(120);
const TYPE = "order.created";

/** How many events of one key one transaction writes in the `bursts` layout. */
export const BURST = 20;

export interface Body {
  readonly i: number;
  readonly key: string;
  /** From 0, without gaps within a key: the order check relies on this. */
  readonly seq: number;
  readonly type: string;
  readonly pad: string;
}

/** Reads back what was enqueued. Nothing is checked: a check of each row would be timed with everything else. */
export function asBody(payload: unknown): Body {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every payload in these databases is one of ours.
  return payload as Body;
}

/**
 * The key of the next event. `bursts`: 20 consecutive events of one key. `round-robin`: one event of each key in
 * turn. `singles`: every key has one event. `none`: round robin too, but on a queue that keeps no order.
 */
export type Layout = "none" | "round-robin" | "bursts" | "singles";

export function makeBody(i: number, layout: Layout, keys: number): Body {
  if (layout === "bursts") return { i, key: `k${Math.floor(i / BURST)}`, seq: i % BURST, type: TYPE, pad: PADDING };
  if (layout === "singles") return { i, key: `k${i}`, seq: 0, type: TYPE, pad: PADDING };
  return { i, key: `k${i % keys}`, seq: Math.floor(i / keys), type: TYPE, pad: PADDING };
}

/** The key of index `g` (an SQL expression) as SQL. */
export function keySql(g: string, layout: Layout, keys: number): string {
  if (layout === "bursts") return `('k' || (${g} / ${BURST}))`;
  if (layout === "singles") return `('k' || ${g})`;
  return `('k' || (${g} % ${keys}))`;
}

/** The body of index `g` (an SQL expression) as SQL, of type jsonb. */
export function bodySql(g: string, layout: Layout, keys: number): string {
  const seq = layout === "bursts" ? `${g} % ${BURST}` : layout === "singles" ? "0" : `${g} / ${keys}`;
  return (
    `jsonb_build_object('i', ${g}, 'key', ${keySql(g, layout, keys)}, 'seq', ${seq}, ` +
    `'type', '${TYPE}', 'pad', '${PADDING}')`
  );
}
