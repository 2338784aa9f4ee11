/**
 * The one form in which e-mail addresses and domains are compared. headroom.canonical_address and headroom.canonical_domain do the same in
 * the database, whose answer decides. A test compares the two.
 *
 * Letters are folded by hand: `toLowerCase` turns some other characters, such as the Kelvin sign, into ASCII letters.
 */
const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const domainPattern = new RegExp(`^(?:${label}\\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`);
const word = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+";
const localPattern = new RegExp(`^${word}(?:\\.${word})*$`);

function fold(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Undefined if it is not a domain: an IP address, or a name that is not ASCII (write its xn-- form). */
export function canonicalDomain(domain: string): string | undefined {
  const folded = fold(domain);
  return folded.length <= 253 && domainPattern.test(folded) ? folded : undefined;
}

/** Undefined if it is not an address. Only for comparing: mail goes to the address as typed. */
export function canonicalAddress(address: string): string | undefined {
  const [local = "", domain = "", ...more] = fold(address).split("@");
  const fits = local.length <= 64 && address.length <= 254 && more.length === 0;
  return fits && localPattern.test(local) && canonicalDomain(domain) !== undefined ? `${local}@${domain}` : undefined;
}
