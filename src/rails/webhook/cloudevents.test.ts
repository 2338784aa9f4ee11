import { describe, expect, test } from "vitest";
import type { Json } from "../../contract/rail.ts";
import { contentTypeOf, isEnvelope, validateEnvelope } from "./cloudevents.ts";

const envelope = { specversion: "1.0", id: "1", source: "/orders", type: "order.paid", data: { amount: 1 } };

describe("an envelope of CloudEvents", () => {
  test("is told by its specversion", () => {
    expect(contentTypeOf(envelope)).toBe("application/cloudevents+json");
    expect(contentTypeOf({ type: "order.paid" })).toBe("application/json");
    expect(isEnvelope([envelope])).toBe(false);
    expect(isEnvelope(null)).toBe(false);
  });

  test.each<[string, { [name: string]: Json }]>([
    ["with what is required", envelope],
    ["with optional attributes", { ...envelope, subject: "order-1", time: "2026-03-01T12:00:00Z" }],
    ["with an attribute that is null", { ...envelope, subject: null }],
    ["with an extension", { ...envelope, traceparent: "00-1-2-01" }],
  ])("%s is whole", (_title, whole) => {
    expect(validateEnvelope(whole)).toEqual({ ok: true });
  });

  test.each<[string, { [name: string]: Json }, string]>([
    ["of another version", { ...envelope, specversion: "0.3" }, "specversion"],
    ["with a version that is a number", { ...envelope, specversion: 1 }, "specversion"],
    ["with an empty id", { ...envelope, id: "" }, "attribute id"],
    ["with a source that is a number", { ...envelope, source: 1 }, "attribute source"],
    ["without a type", { specversion: "1.0", id: "1", source: "/orders" }, "attribute type"],
    ["with a time that is a number", { ...envelope, time: 1 }, "attribute time"],
    ["with its data twice", { ...envelope, data_base64: "AA==" }, "both data and data_base64"],
  ])("%s is refused", (_title, broken, reason) => {
    expect(validateEnvelope(broken)).toEqual({ ok: false, reason: expect.stringContaining(reason) });
  });
});
