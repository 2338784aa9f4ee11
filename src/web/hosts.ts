/**
 * The host names that a listener answers to.
 *
 * A web page can point its own host name to this machine at any time (DNS rebinding). A browser then treats our answers as part of that
 * page's site, and lets the page read them. The host name reveals this, because the browser always sends it.
 *
 * Owns: reading the names in a request, and which are allowed. Does not own: the answer to the others.
 */
import { isIP } from "node:net";
import { parseUrl } from "../db/parse-url.ts";

export interface HostPolicy {
  /** Whether a name is allowed. It is in lower case, without port and final dot; addresses are in URL's form. */
  admits(name: string): boolean;
  /** The allowed names, for people to read. */
  readonly shown: string;
  /** What a client that used another name should do. */
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
 * For a server with a public address. Proxies, probes and neighbours reach it by its address or by a name without a dot (a container's or
 * an upstream's). No web page has such a host name.
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

/** For a listener that knows only its address: on loopback only this machine may call it, elsewhere anyone who can reach it. */
export function hostsFor(listensOn: string): HostPolicy {
  return isLoopback(nameOf(listensOn.includes(":") ? `[${listensOn}]` : listensOn) ?? "") ? loopbackHosts : anyHost;
}

/**
 * Whether all names in a request are allowed: that of Host, and that of a target that is a whole address (`GET http://name/…`),
 * which takes precedence. A request without a host name does not come from a browser.
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

/** For the name in a URL, in URL's form. */
export function isLoopback(name: string): boolean {
  return name === "[::1]" || /^127(\.\d{1,3}){3}$/.test(name) || /^(.+\.)?localhost$/.test(name);
}
