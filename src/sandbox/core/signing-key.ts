/**
 * The RSA keys with which stand-ins sign: one for each process, since making one takes longer than starting a sandbox.
 */
import { createPrivateKey, generateKeyPair, type KeyObject } from "node:crypto";
import { promisify } from "node:util";

let own: Promise<KeyObject> | undefined;

/** The key that was given in PEM, otherwise this process's own. */
export async function privateKey(pem: string | undefined): Promise<KeyObject> {
  if (pem !== undefined) return createPrivateKey(pem);
  own ??= promisify(generateKeyPair)("rsa", { modulusLength: 2048 }).then((pair) => pair.privateKey);
  return own;
}
