/**
 * Lists as Stripe pages them: newest first, after an id, within a time. Objects of the same second have no predictable order, but always
 * the same one.
 */
import { z } from "zod";
import { sha256 } from "../../../db/hash.ts";
import { missing } from "../refusal.ts";
import { listShape, type Shape } from "../shapes.ts";
import type { StripeState } from "../state.ts";
import { ignored } from "./parameters.ts";

const moment = z.coerce.number().int();
const range = z.strictObject({
  gt: moment.optional(),
  gte: moment.optional(),
  lt: moment.optional(),
  lte: moment.optional(),
});

/** Parameters of every list; each adds its own filters. */
export const window = {
  limit: z.coerce.number().int().min(1).max(100).default(10),
  starting_after: z.string().optional(),
  created: z.union([moment, range]).optional(),
  expand: ignored,
};

export interface Window {
  readonly limit: number;
  readonly starting_after?: string | undefined;
  readonly created?: number | z.infer<typeof range> | undefined;
}

interface Item {
  readonly id: string;
  readonly created: number;
}

export function listOf<T extends Item>(
  state: StripeState,
  url: string,
  items: Iterable<T>,
  { limit, starting_after: after, created }: Window,
  shape: (item: T) => Shape,
): Shape {
  const all = inOrder([...items].filter((item) => state.isListed(item) && isWithin(item.created, created)));
  const at = after === undefined ? -1 : all.findIndex(({ id }) => id === after);
  if (after !== undefined && at < 0) throw missing("object", after, "starting_after");
  const page = all.slice(at + 1, at + 1 + limit);
  return listShape(url, page.map(shape), all.length > at + 1 + limit);
}

function inOrder<T extends Item>(items: readonly T[]): T[] {
  return items.toSorted((a, b) => b.created - a.created || compare(sha256(a.id), sha256(b.id)));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

function isWithin(created: number, wanted: Window["created"]): boolean {
  if (wanted === undefined) return true;
  if (typeof wanted === "number") return created === wanted;
  const { gt = -Infinity, gte = -Infinity, lt = Infinity, lte = Infinity } = wanted;
  return created > gt && created >= gte && created < lt && created <= lte;
}
