/**
 * Reads the body of a request within a limit.
 *
 * Owns: the limit, and the refusal of broken UTF-8 and broken JSON. Does not own: slow bodies; the listener's timeouts end those.
 *
 * Written here instead of using hono/body-limit, which reads a whole body of unknown length before any credential is checked, and copies
 * it.
 */
import { HeadroomError } from "../../db/errors.ts";
import { excessOf } from "../../db/values/json-excess.ts";

export const defaultBodyBytes = 1_048_576;

/** Deeper JSON is refused before it is parsed: no legitimate request needs it. */
const maxJsonDepth = 200;

export async function readBody(request: Request, limit: number): Promise<Uint8Array<ArrayBuffer>> {
  const announced = request.headers.get("content-length");
  if (announced !== null && Number(announced) > limit) throw tooLarge(limit);
  // A body with a declared length cannot be longer than that, so it can be read as a whole, which costs less.
  if (announced !== null) return readAnnounced(request);
  if (request.body === null) return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  let size = 0;
  const reader = request.body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.byteLength;
      if (size > limit) throw tooLarge(limit);
      pieces.push(value);
    }
  } catch (error) {
    await reader.cancel().catch(() => undefined);
    if (error instanceof HeadroomError) throw error;
    throw endedEarly(error);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.byteLength;
  }
  return whole;
}

async function readAnnounced(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await request.arrayBuffer());
  } catch (error) {
    throw endedEarly(error);
  }
}

function endedEarly(cause: unknown): HeadroomError {
  return new HeadroomError("invalid_input", "The body is incomplete.", { cause });
}

function tooLarge(limit: number): HeadroomError {
  return new HeadroomError("body_too_large", `The body is larger than ${limit} bytes.`, {
    hint: "Send less at once. Nothing was stored.",
  });
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A zero byte is refused like broken UTF-8, because no text in the database can contain one. */
export function decodeText(bytes: Uint8Array): string {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch (cause) {
    throw new HeadroomError("invalid_input", "The body is not UTF-8.", { hint: "Encode it as UTF-8.", cause });
  }
  if (text.includes("\0")) throw new HeadroomError("invalid_input", "The body contains a zero byte.");
  return text;
}

export function isJsonType(contentType: string | null): boolean {
  return /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i.test(contentType ?? "");
}

export function parseJson(text: string): unknown {
  const excess = excessOf(text, maxJsonDepth);
  if (excess !== undefined) throw new HeadroomError("invalid_input", `The JSON ${excess}.`);
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new HeadroomError("invalid_input", "The body is not JSON.", { cause });
  }
}
