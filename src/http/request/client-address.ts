/**
 * Which addresses the limits count as one caller.
 *
 * Owns: reading the address from the socket or a trusted proxy, and which part of it counts. Does not own: the limits (rate-limit.ts).
 */
import { isIPv4, isIPv6 } from "node:net";

/**
 * An IPv4 address as it is, also when it is written as an IPv6 one; of an IPv6 address the first 64 bits, because a caller who has one
 * usually has all 2^64 that begin alike. Undefined for text that is not an address: callers must not choose what they are counted as.
 */
export function addressKey(text: string): string | undefined {
  const address = withoutPort(text);
  if (isIPv4(address)) return address;
  if (!isIPv6(address)) return undefined;
  const groups = groupsOf(address);
  const [high = 0, low = 0] = groups.slice(6);
  if (groups.slice(0, 6).join() === "0,0,0,0,0,65535") return [high >> 8, high & 255, low >> 8, low & 255].join(".");
  return `${groups
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(":")}::/64`;
}

/** Each proxy appends the address that it saw: the address that our outermost trusted proxy saw is the caller's. */
export function clientAddress(forwardedFor: string | null, socket: string | undefined, trustedProxies: number): string {
  // An empty part is not an address; without this, a caller could send one to avoid being counted.
  const forwarded = (forwardedFor ?? "").split(",").filter((part) => part.trim() !== "");
  const seen = trustedProxies === 0 ? undefined : forwarded.at(-trustedProxies)?.trim();
  return addressKey(seen ?? "") ?? addressKey(socket ?? "") ?? "unknown";
}

/** Some proxies write the port too, and a link-local address may name its interface. */
function withoutPort(text: string): string {
  const [, bracketed, plain] = /^\[([^\]]{2,64})\](?::\d{1,5})?$|^([\d.]{7,15}):\d{1,5}$/.exec(text) ?? [];
  return (bracketed ?? plain ?? text).replace(/%[\w.-]{1,32}$/, "");
}

/** The eight numbers of an IPv6 address; URL writes every form of it the same way, without a dot. */
function groupsOf(address: string): number[] {
  const parts = new URL(`http://[${address}]`).hostname.slice(1, -1).split("::");
  const [before = [], after = []] = parts.map((part) => part.split(":").map((text) => parseInt(text || "0", 16)));
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}
