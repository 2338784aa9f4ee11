/** The events of the account, as they happened, whether they were told or not. */
import { z } from "zod";
import { missing } from "../refusal.ts";
import { eventShape, type Shape } from "../shapes.ts";
import type { StripeState } from "../state.ts";
import { listOf, window } from "./lists.ts";
import { parse, type Parameters } from "./parameters.ts";

export function listEvents(state: StripeState, given: Parameters): Shape {
  const { type, ...page } = parse(z.strictObject({ ...window, type: z.string().optional() }), given);
  const wanted = state.events.filter((event) => type === undefined || event.type === type);
  return listOf("/v1/events", wanted, page, eventShape);
}

export function getEvent(state: StripeState, id: string): Shape {
  const event = state.events.find((each) => each.id === id);
  if (event === undefined) throw missing("event", id);
  return eventShape(event);
}
