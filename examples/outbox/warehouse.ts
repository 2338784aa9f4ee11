/**
 * A rail: how this shop reaches its warehouse. A real one would make an HTTP request; this one acts as the warehouse itself, so
 * that the example needs nothing but a database.
 */
import type { Rail, RailMessage, RailOutcome } from "headroom/outbox";

/** The parcels that the warehouse has accepted, by idempotency key: a repeat is the same parcel. */
const parcels = new Map<string, string>();
let troubles = 1;

export const warehouse: Rail = {
  name: "warehouse",
  capability: "idempotent",
  timeoutMs: 5_000,
  validate: (message) => (textOf(message, "item") === "" ? { ok: false, reason: "item is missing" } : { ok: true }),
  send(message): RailOutcome {
    if (textOf(message, "item") === "unicorn") {
      return { kind: "rejected", code: "not_in_stock", reason: "The warehouse has no unicorns." };
    }
    if (troubles > 0) {
      troubles -= 1;
      return { kind: "retry", code: "busy", reason: "The warehouse is having its coffee." };
    }
    const parcel = parcels.get(message.idempotencyKey) ?? `parcel-${parcels.size + 1}`;
    parcels.set(message.idempotencyKey, parcel);
    const about = textOf(message, "parcel") === "" ? "" : ` for ${textOf(message, "parcel")}`;
    console.log(`warehouse: ${message.key} #${message.seq} ${textOf(message, "item")}${about} (try ${message.tryNo})`);
    return { kind: "delivered", reference: parcel, response: { parcel } };
  },
};

function textOf({ payload }: RailMessage, field: string): string {
  if (typeof payload !== "object" || payload === null || Array.isArray(payload)) return "";
  const value = payload[field];
  return typeof value === "string" ? value : "";
}
