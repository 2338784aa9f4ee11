/**
 * The one form in which e-mail addresses and domains are compared: what headroom.canonical_address and headroom.canonical_domain say in the
 * database, which decides. A test holds the two to each other.
 *
 * Letters are folded by hand: `toLowerCase` makes ASCII letters of some that are none, such as the Kelvin sign.
 */
const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const domainPattern = new RegExp(`^(?:${label}\\.)*[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$`);
const word = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+";
const localPattern = new RegExp(`^${word}(?:\\.${word})*$`);

function fold(text: string): string {
  return text.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Undefined for what is no domain: addresses of numbers, and names that are not ASCII, of which the xn-- form is taken. */
export function canonicalDomain(domain: string): string | undefined {
  const folded = fold(domain);
  return folded.length <= 253 && domainPattern.test(folded) ? folded : undefined;
}

/** Undefined for what is no address. Only for comparing: mail goes to what was typed. */
export function canonicalAddress(address: string): string | undefined {
  const [local = "", domain = "", ...more] = fold(address).split("@");
  const fits = local.length <= 64 && address.length <= 254 && more.length === 0;
  return fits && localPattern.test(local) && canonicalDomain(domain) !== undefined ? `${local}@${domain}` : undefined;
}
