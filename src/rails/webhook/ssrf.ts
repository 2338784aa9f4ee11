/**
 * Keeps webhooks away from addresses that their owner could not reach: the guard against server-side request
 * forgery.
 *
 * Owns: which URLs and which addresses may be called, and a resolver that hands out only addresses that were checked.
 * Does not own: the request. The check happens where the address is dialled (the `lookup` hook of the socket), so a
 * name that resolves differently the second time gains nothing.
 */
import { lookup as systemLookup } from "node:dns/promises";
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import type { LookupFunction } from "node:net";
import ipaddr from "ipaddr.js";
import { HeadroomError } from "../../db/errors.ts";
import type { DialRules } from "../exchange.ts";
import { parseUrl } from "../../db/parse-url.ts";

export type AddressVerdict = { readonly ok: true } | { readonly ok: false; readonly range: string };

export interface AddressPolicy {
  /** `address` as the platform writes it, without brackets. If it cannot be parsed, it is refused. */
  check(address: string): AddressVerdict;
}

/** Resolves a name to every address it has. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

export class BlockedAddressError extends Error {
  override readonly name = "BlockedAddressError";
  readonly range: string;

  constructor(range: string) {
    super(`address in the range ${range}`);
    this.range = range;
  }
}

export class ResolveError extends Error {
  override readonly name = "ResolveError";
}

/** Public according to the registries, but the provider's own service inside a cloud. */
const cloudServices: readonly [ipaddr.IPv4, number][] = [[ipaddr.IPv4.parse("168.63.129.16"), 32]];
const globalUnicast: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];
const nat64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("64:ff9b::"), 96];

/**
 * Allows public unicast addresses, and those that `allowPrivate` names (CIDR, e.g. `127.0.0.1/32`). The rule lists
 * what is allowed, not what is forbidden, so a range that nobody thought of is refused.
 */
export function createAddressPolicy(allowPrivate: readonly string[] = []): AddressPolicy {
  const allowed = allowPrivate.map(parseCidr);
  return {
    check(address) {
      // The platform's test is strict; the library alone would read 010.0.0.1 as octal, where others read decimal.
      if (isIP(address) === 0 || !ipaddr.isValid(address)) return { ok: false, range: "unreadable" };
      const parsed = ipaddr.parse(address);
      if (allowed.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits))) {
        return { ok: true };
      }
      const range = parsed instanceof ipaddr.IPv4 ? rangeOfIPv4(parsed) : rangeOfIPv6(parsed);
      return range === "unicast" ? { ok: true } : { ok: false, range };
    },
  };
}

function parseCidr(text: string): [ipaddr.IPv4 | ipaddr.IPv6, number] {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  throw new HeadroomError("usage", `allowPrivate holds ${JSON.stringify(text)}, which is no range of addresses.`, {
    hint: "Write a range as address/bits, for example 127.0.0.1/32 or fd00::/8.",
  });
}

function rangeOfIPv4(address: ipaddr.IPv4): string {
  if (cloudServices.some(([network, bits]) => address.match(network, bits))) return "metadata";
  return address.range();
}

/**
 * IPv6 can embed IPv4 in many ways (mapped, compatible, 6to4, Teredo). All are outside global unicast or in a range
 * that the library names, and are refused whatever they embed: no honest host uses one. Only NAT64 is judged by the
 * embedded address, because a network without IPv4 reaches every IPv4 host by it.
 */
function rangeOfIPv6(address: ipaddr.IPv6): string {
  if (address.match(nat64)) {
    return rangeOfIPv4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  }
  const range = address.range();
  if (range !== "unicast") return range;
  return address.match(globalUnicast) ? "unicast" : "reserved";
}

export interface UrlRules {
  readonly allowHttp: boolean;
  readonly policy: AddressPolicy;
}

export type UrlVerdict =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly code: "endpoint_invalid" | "blocked_address"; readonly reason: string };

const maxUrlChars = 2048;

function invalid(reason: string): UrlVerdict {
  return { ok: false, code: "endpoint_invalid", reason };
}

/**
 * Checks what can be checked before dialling. The URL parser normalises every way to write an IPv4 address (decimal,
 * octal, hexadecimal, short), so a literal is judged in the form in which it will be dialled.
 * Reasons quote neither path nor query, which may hold a token.
 */
export function checkUrl(text: string, rules: UrlRules): UrlVerdict {
  if (text.length > maxUrlChars) return invalid(`the URL is longer than ${maxUrlChars} characters`);
  const url = parseUrl(text);
  if (url === null) return invalid("the URL cannot be read");
  if (url.protocol !== "https:" && !(rules.allowHttp && url.protocol === "http:")) {
    return invalid(rules.allowHttp ? "the URL is neither https nor http" : "the URL is not https");
  }
  if (url.username !== "" || url.password !== "") return invalid("the URL holds credentials");
  const host = hostOf(url);
  if (host === "") return invalid("the URL has no host");
  if (isIP(host) === 0) return { ok: true, url };
  const verdict = rules.policy.check(host);
  if (verdict.ok) return { ok: true, url };
  return { ok: false, code: "blocked_address", reason: `the URL's address lies in the range ${verdict.range}` };
}

/** The host as sockets need it: an IPv6 literal without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname;
}

const resolveBySystem: Resolve = (hostname) => systemLookup(hostname, { all: true, order: "verbatim" });

/**
 * A `lookup` for sockets. Every address of the name is checked; one that is not allowed blocks the name as a whole,
 * since a host that mixes public and private addresses is either misconfigured or an attack. The socket gets exactly the
 * addresses that were checked, and nothing is resolved again.
 */
export function guardedLookup(policy: AddressPolicy, resolve: Resolve = resolveBySystem): LookupFunction {
  return (hostname, options, callback) => {
    const answer = async (): Promise<void> => {
      let addresses: [LookupAddress, ...LookupAddress[]];
      try {
        addresses = await checkedAddresses(hostname, familyOf(options.family), policy, resolve);
      } catch (error) {
        callback(error instanceof Error ? error : new ResolveError("resolver failed", { cause: error }), "", 0);
        return;
      }
      if (options.all === true) callback(null, addresses);
      else callback(null, addresses[0].address, addresses[0].family);
    };
    void answer();
  };
}

/** The rules of an exchange under a policy, from the name to the dialled address. */
export function guardedDialling(policy: AddressPolicy, resolve?: Resolve): DialRules {
  return {
    lookup: guardedLookup(policy, resolve),
    allows: (address) => policy.check(address).ok,
    codeOf(error) {
      if (error instanceof BlockedAddressError) return "blocked_address";
      return error instanceof ResolveError ? "dns_failed" : undefined;
    },
  };
}

async function checkedAddresses(
  hostname: string,
  family: 0 | 4 | 6,
  policy: AddressPolicy,
  resolve: Resolve,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  let records: readonly LookupAddress[];
  try {
    records = await resolve(hostname);
  } catch (error) {
    throw new ResolveError("name not resolved", { cause: error });
  }
  for (const { address } of records) {
    const verdict = policy.check(address);
    if (!verdict.ok) throw new BlockedAddressError(verdict.range);
  }
  // The family is derived from the address, because the resolver's claim was not checked.
  const addresses = records
    .map(({ address }) => ({ address, family: isIP(address) }))
    .filter((record) => record.family !== 0 && (family === 0 || record.family === family));
  const [first, ...rest] = addresses;
  if (first === undefined) throw new ResolveError("name has no address");
  return [first, ...rest];
}

function familyOf(family: number | string | undefined): 0 | 4 | 6 {
  if (family === 4 || family === "IPv4") return 4;
  return family === 6 || family === "IPv6" ? 6 : 0;
}
