/**
 * The host names that a listener answers to.
 *
 * A page on the web can let its own host name point to this machine at any time (DNS rebinding). A browser then takes what answers here for
 * a part of that page's site, and lets the page read it. The host name tells the two apart, because the browser always sends it.
 *
 * Owns: reading the names in a request, and which are answered. Does not own: the answer to the others.
 */
import { isIP } from "node:net";
import { parseUrl } from "../db/parse-url.ts";

export interface HostPolicy {
  /** Whether a name is answered to; it comes in lower case, without port and final dot, and addresses as URL writes them. */
  admits(name: string): boolean;
  /** For people: which these are. */
  readonly shown: string;
  /** What whoever used another one should do. */
  readonly hint: string;
}

/** For a listener that is only for people at this machine. */
export const loopbackHosts: HostPolicy = {
  admits: isLoopback,
  shown: "names of this machine: localhost, 127.0.0.1, [::1]",
  hint: "It is only for this machine: open it as 127.0.0.1 or localhost.",
};

/** For a listener whose names only its operator knows. */
export const anyHost: HostPolicy = { admits: () => true, shown: "any", hint: "" };

/**
 * For a server with a public address. Proxies, probes and neighbours reach it by its address, or by a name without a dot (a container's,
 * an upstream's); no page on the web has one of these for its name.
 */
export function publicHosts(publicUrl: string, others: readonly string[] = []): HostPolicy {
  const names = [new URL(publicUrl).host, ...others].map(nameOf);
  return {
    admits: (name) =>
      names.includes(name) || isLoopback(name) || isIP(name.replace(/^\[|\]$/g, "")) !== 0 || !name.includes("."),
    shown: `${names.join(", ")}; addresses, and names without a dot`,
    hint: "Use its public address. Operators: let the proxy pass on Host, or add this name with --also-host.",
  };
}

/** For a listener that was told nothing but its address: on loopback it is for this machine, elsewhere for whoever was let in. */
export function hostsFor(listensOn: string): HostPolicy {
  return isLoopback(nameOf(listensOn.includes(":") ? `[${listensOn}]` : listensOn) ?? "") ? loopbackHosts : anyHost;
}

/**
 * Whether all names in a request are answered to: that of Host, and that of a target which is a whole address (`GET http://name/…`),
 * which counts in its place. A request without a host name does not come from a browser.
 */
export function isAdmitted(hosts: HostPolicy, target: string, host: string | undefined): boolean {
  const named = [/^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(target)?.[1], host].filter((text) => text !== undefined);
  return named.map(nameOf).every((name) => name !== undefined && hosts.admits(name));
}

/** Undefined for what is not a host. */
function nameOf(host: string): string | undefined {
  if (!/^[\w.:[\]-]+$/.test(host)) return undefined;
  return parseUrl(`http://${host}`)?.hostname.replace(/\.$/, "");
}

/** For the name in a URL, as URL writes it. */
export function isLoopback(name: string): boolean {
  return name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name) || /^(.+\.)?localhost$/.test(name);
}
