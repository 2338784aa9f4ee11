/**
 * CloudEvents 1.0 in structured mode: the payload is the envelope and is sent as it is.
 *
 * Owns: recognising an envelope among other JSON, and its required attributes. Does not own: building one.
 */
import type { Json, Validation } from "../../contract/rail.ts";

export type JsonObject = { [name: string]: Json };

export function isObject(payload: Json): payload is JsonObject {
  return typeof payload === "object" && payload !== null && !Array.isArray(payload);
}

export function isEnvelope(payload: Json): payload is JsonObject {
  return isObject(payload) && Object.hasOwn(payload, "specversion");
}

export function contentTypeOf(payload: Json): string {
  return isEnvelope(payload) ? "application/cloudevents+json" : "application/json";
}

/** Whether it claims to be one of Headroom's events, by the same rule as webhooks.check_envelope for applications' events. */
export function speaksAsHeadroom(payload: JsonObject): boolean {
  return (
    /^(capacity|headroom)(\.|$)/i.test(textOf(payload["type"])) || /^\/headroom(\/|$)/i.test(textOf(payload["source"]))
  );
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

const requiredAttributes = ["id", "source", "type"] as const;
const optionalAttributes = ["subject", "time", "datacontenttype", "dataschema"] as const;

export function validateEnvelope(envelope: JsonObject): Validation {
  if (envelope["specversion"] !== "1.0") return { ok: false, reason: 'specversion must be "1.0"' };
  for (const name of requiredAttributes) {
    if (!isFilled(envelope[name]))
      return { ok: false, reason: `the CloudEvents attribute ${name} must be a filled string` };
  }
  for (const name of optionalAttributes) {
    const value = envelope[name];
    // The specification lets an attribute without a value be null.
    if (value !== undefined && value !== null && !isFilled(value)) {
      return { ok: false, reason: `the CloudEvents attribute ${name} must be a filled string when it is there` };
    }
  }
  if (Object.hasOwn(envelope, "data") && Object.hasOwn(envelope, "data_base64")) {
    return { ok: false, reason: "an envelope must not have both data and data_base64" };
  }
  return { ok: true };
}

function isFilled(value: Json | undefined): boolean {
  return typeof value === "string" && value !== "";
}
