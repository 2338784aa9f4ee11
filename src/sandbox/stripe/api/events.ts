/** The events of the account in order, whether or not they were sent. */
import { z } from "zod";
import { missing } from "../refusal.ts";
import { eventShape, type Shape } from "../shapes.ts";
import type { StripeState } from "../state.ts";
import { listOf, window } from "./lists.ts";
import { parse, type Parameters } from "./parameters.ts";

/** As at Stripe. */
const keptSeconds = 30 * 24 * 60 * 60;
const maxTypes = 20;

export function listEvents(state: StripeState, given: Parameters): Shape {
  const filters = { type: z.string().optional(), types: z.array(z.string()).max(maxTypes).optional() };
  const { type, types, ...page } = parse(z.strictObject({ ...window, ...filters }), given);
  const oldest = state.now() - keptSeconds;
  const wanted = state.events.filter(
    (event) =>
      event.livemode === state.isLive &&
      event.created >= oldest &&
      (type === undefined || event.type === type) &&
      (types === undefined || types.includes(event.type)),
  );
  return listOf(state, "/v1/events", wanted, page, eventShape);
}

export function getEvent(state: StripeState, id: string): Shape {
  const event = state.events.find((each) => each.id === id && each.livemode === state.isLive);
  if (event === undefined) throw missing("event", id);
  return eventShape(event);
}
