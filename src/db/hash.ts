/**
 * Hashes, in the only form that the product uses: SHA-256, as text.
 *
 * Owns: digests, HMACs, and comparing secrets in constant time. Does not own: what is signed; each scheme has its own.
 */
import { createHmac, hash, timingSafeEqual } from "node:crypto";

export type DigestEncoding = "hex" | "base64" | "base64url";

export function sha256(data: string | Uint8Array, encoding: DigestEncoding = "hex"): string {
  return hash("sha256", data, encoding);
}

/** In hexadecimal. */
export function hmacSha256(secret: string, data: string | Uint8Array): string {
  return createHmac("sha256", secret).update(data).digest("hex");
}

/** Both are hashed first, which makes them equally long: the time taken reveals neither where they differ nor how long they are. */
export function isSameSecret(left: string, right: string): boolean {
  return timingSafeEqual(hash("sha256", left, "buffer"), hash("sha256", right, "buffer"));
}
