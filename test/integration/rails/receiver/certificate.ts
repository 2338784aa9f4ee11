/**
 * A certificate for a test server, generated on demand, so that no key is in the repository and none expires.
 *
 * Writes the few DER structures that an X.509 certificate needs: self-signed, ECDSA on P-256, valid for a day.
 */
import { generateKeyPairSync, sign } from "node:crypto";

export interface TestCertificate {
  readonly key: string;
  /** Also the authority that a client must trust. */
  readonly cert: string;
}

/** For the given DNS names, and for 127.0.0.1. */
export function createCertificate(...names: readonly string[]): TestCertificate {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const algorithm = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
  const issuer = sequence(der(0x31, sequence(objectId(0x55, 0x04, 0x03), der(0x0c, Buffer.from("receiver test")))));
  const dayMs = 24 * 60 * 60 * 1000;
  const validity = sequence(utcTime(new Date(Date.now() - dayMs)), utcTime(new Date(Date.now() + dayMs)));
  const body = sequence(
    der(0xa0, integer(2)),
    integer(1),
    algorithm,
    issuer,
    validity,
    issuer,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(alternativeNames(names))),
  );
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign("sha256", body, privateKey)]));
  const certificate = sequence(body, algorithm, signature);
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? [];
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n"),
  };
}

function alternativeNames(names: readonly string[]): Buffer {
  const entries = [...names.map((name) => der(0x82, Buffer.from(name))), der(0x87, Buffer.of(127, 0, 0, 1))];
  return sequence(objectId(0x55, 0x1d, 0x11), der(0x04, sequence(...entries)));
}

function der(tag: number, content: Buffer): Buffer {
  if (content.length < 128) return Buffer.concat([Buffer.of(tag, content.length), content]);
  return Buffer.concat([Buffer.of(tag, 0x82, content.length >> 8, content.length & 0xff), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function integer(value: number): Buffer {
  return der(0x02, Buffer.of(value));
}

function objectId(...bytes: readonly number[]): Buffer {
  return der(0x06, Buffer.from(bytes));
}

function utcTime(date: Date): Buffer {
  return der(0x17, Buffer.from(`${date.toISOString().replaceAll(/\D/g, "").slice(2, 14)}Z`));
}
