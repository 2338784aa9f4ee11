import { BlockList, isIP } from "node:net";
import type { LookupAddress } from "node:dns";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BlockedAddressError, checkUrl, createAddressPolicy, guardedLookup, ResolveError } from "./ssrf.ts";
import type { Resolve } from "./ssrf.ts";

const policy = createAddressPolicy();
const rules = { allowHttp: false, policy };

/** The special ranges, from the registries and by another implementation than the one under test. */
const special = new BlockList();
for (const range of `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.31.196.0/24 192.52.193.0/24 192.88.99.0/24 192.168.0.0/16 192.175.48.0/24 198.18.0.0/15
  198.51.100.0/24
  203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32`.split(/\s+/)) {
  const [network = "", bits = ""] = range.split("/");
  special.addSubnet(network, Number(bits), "ipv4");
}

const dotted = (value: number): string => [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff).join(".");
const groups = (value: number): string => `${(value >>> 16).toString(16)}:${(value & 0xffff).toString(16)}`;

const anyIPv4 = fc.nat({ max: 0xffffffff });
/** Most random addresses are public, so the interesting ones are made on purpose. */
const specialIPv4 = fc
  .tuple(
    fc.constantFrom(
      [0, 24],
      [10, 24],
      [127, 24],
      [0x6440, 16],
      [0xa9fe, 16],
      [0xac10, 16],
      [0xc0a8, 16],
      [0xe, 28],
      [0xf, 28],
    ),
    anyIPv4,
  )
  .map(([[network = 0, bits = 0], host]) => network * 2 ** bits + (host % 2 ** bits));

/** Every way in which the URL standard lets an IPv4 address be written. */
const writtenIPv4 = (address: fc.Arbitrary<number>): fc.Arbitrary<string> =>
  fc
    .tuple(
      address,
      fc.array(fc.constantFrom(8, 10, 16), { minLength: 4, maxLength: 4 }),
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
    )
    .map(([value, bases, parts, dot]) => {
      const octets = [24, 16, 8, 0].map((shift) => (value >>> shift) & 0xff);
      const last = octets.slice(parts - 1).reduce((sum, octet) => sum * 256 + octet, 0);
      const numbers = [...octets.slice(0, parts - 1), last];
      const prefixes = new Map([
        [8, "0"],
        [10, ""],
        [16, "0x"],
      ]);
      const written = numbers.map((number, at) => {
        const base = bases[at] ?? 10;
        return `${prefixes.get(base) ?? ""}${number.toString(base)}`;
      });
      return written.join(".") + (dot ? "." : "");
    });

describe("an address", () => {
  test.each(["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "2a00:1450:4001::200e", "64:ff9b::808:808"])(
    "%s is public and may be called",
    (address) => {
      expect(policy.check(address)).toEqual({ ok: true });
    },
  );

  test.each([
    ["127.0.0.1", "loopback"],
    ["10.1.2.3", "private"],
    ["172.31.255.255", "private"],
    ["192.168.0.1", "private"],
    ["169.254.169.254", "linkLocal"],
    ["168.63.129.16", "metadata"],
    ["100.100.100.200", "carrierGradeNat"],
    ["0.0.0.0", "unspecified"],
    ["224.0.0.1", "multicast"],
    ["255.255.255.255", "broadcast"],
    ["198.18.0.1", "reserved"],
    ["::", "unspecified"],
    ["::1", "loopback"],
    ["::7f00:1", "reserved"],
    ["::127.0.0.1", "ipv4Mapped"],
    ["169.254.170.2", "linkLocal"],
    ["::ffff:127.0.0.1", "ipv4Mapped"],
    ["::ffff:8.8.8.8", "ipv4Mapped"],
    ["::ffff:0:7f00:1", "rfc6145"],
    ["64:ff9b::7f00:1", "loopback"],
    ["64:ff9b::a9fe:a9fe", "linkLocal"],
    ["64:ff9b:1::808:808", "rfc6052"],
    ["2002:7f00:1::", "6to4"],
    ["2001:0:7f00:1::", "teredo"],
    ["fc00::1", "uniqueLocal"],
    ["fd00:ec2::254", "uniqueLocal"],
    ["fe80::1", "linkLocal"],
    ["fe80::1%eth0", "linkLocal"],
    ["fec0::1", "deprecatedSiteLocal"],
    ["ff02::1", "multicast"],
    ["2001:db8::1", "reserved"],
    ["010.0.0.1", "unreadable"],
    ["127.1", "unreadable"],
    ["localhost", "unreadable"],
    ["", "unreadable"],
  ])("%s is refused as %s", (address, range) => {
    expect(policy.check(address)).toEqual({ ok: false, range });
  });

  test("of IPv4 is allowed if and only if no registry calls it special", () => {
    fc.assert(
      fc.property(fc.oneof(anyIPv4, specialIPv4), (value) => {
        expect(policy.check(dotted(value)).ok).toBe(!special.check(dotted(value), "ipv4"));
      }),
      { numRuns: 2_000 },
    );
  });

  test("of IPv6 is never allowed outside global unicast, NAT64 aside", () => {
    const part = fc.nat({ max: 0xffff });
    const parts = fc.oneof(
      fc.array(part, { minLength: 8, maxLength: 8 }),
      fc
        .tuple(
          fc.constantFrom(0, 0x64, 0xfc00, 0xfe80, 0xff02, 0x2001, 0x2002),
          fc.array(part, { minLength: 7, maxLength: 7 }),
        )
        .map(([first, rest]) => [first, ...rest]),
    );
    fc.assert(
      fc.property(parts, (values) => {
        const address = values.map((value) => value.toString(16)).join(":");
        const isNat64 = values[0] === 0x64 && values[1] === 0xff9b && values.slice(2, 6).every((value) => value === 0);
        const isGlobal = ((values[0] ?? 0) & 0xe000) === 0x2000;
        if (!isGlobal && !isNat64) expect(policy.check(address).ok).toBe(false);
      }),
      { numRuns: 2_000 },
    );
  });

  test("hidden in IPv6 in any of the known ways is refused when it is special", () => {
    fc.assert(
      fc.property(specialIPv4, (value) => {
        const flipped = groups((value ^ 0xffffffff) >>> 0);
        for (const disguise of [
          `::${dotted(value)}`,
          `::ffff:${dotted(value)}`,
          `::ffff:${groups(value)}`,
          `::ffff:0:${groups(value)}`,
          `64:ff9b::${groups(value)}`,
          `64:ff9b:1::${groups(value)}`,
          `2002:${groups(value)}::1`,
          `2001:0:${groups(value)}::1`,
          `2001:0:808:808:0:0:${flipped}`,
        ]) {
          expect(isIP(disguise)).toBe(6);
          expect(policy.check(disguise).ok).toBe(false);
          expect(checkUrl(`https://[${disguise}]/`, rules).ok).toBe(false);
        }
      }),
    );
  });

  test("that is allowed by name is allowed alone", () => {
    const narrow = createAddressPolicy(["127.0.0.1/32", "fd12::/16"]);
    expect(narrow.check("127.0.0.1").ok).toBe(true);
    expect(narrow.check("127.0.0.2").ok).toBe(false);
    expect(narrow.check("::ffff:127.0.0.1").ok).toBe(false);
    expect(narrow.check("fd12::9").ok).toBe(true);
    expect(narrow.check("fd13::9").ok).toBe(false);
    expect(narrow.check("8.8.8.8").ok).toBe(true);
  });

  test.each(["127.0.0.1", "loopback", "127.0.0.1/33", ""])("range written as %j is an error at once", (range) => {
    expect(() => createAddressPolicy([range])).toThrow(expect.objectContaining({ code: "usage" }));
  });
});

describe("a URL", () => {
  test.each([
    ["https://example.com/hook"],
    ["https://example.com:8443/hook?token=x"],
    ["https://8.8.8.8/"],
    ["https://[2606:4700:4700::1111]/"],
    // A name is judged when it is resolved, whatever it looks like.
    ["https://localhost/"],
  ])("like %s passes", (url) => {
    expect(checkUrl(url, rules).ok).toBe(true);
  });

  test.each([
    ["http://example.com/", "the URL is not https"],
    ["ftp://example.com/", "the URL is not https"],
    ["file:///etc/passwd", "the URL is not https"],
    ["javascript:alert(1)", "the URL is not https"],
    ["/hook", "the URL cannot be read"],
    ["https://", "the URL cannot be read"],
    ["https://exa mple.com/", "the URL cannot be read"],
    ["https://1.2.3.4.5/", "the URL cannot be read"],
    ["https://user@example.com/", "the URL holds credentials"],
    ["https://:pass@example.com/", "the URL holds credentials"],
    ["https://127.0.0.1@example.com/", "the URL holds credentials"],
  ])("like %s is invalid", (url, reason) => {
    expect(checkUrl(url, rules)).toEqual({ ok: false, code: "endpoint_invalid", reason });
  });

  test("that is very long is invalid", () => {
    const reason = "the URL is longer than 2048 characters";
    const verdict = checkUrl(`https://example.com/${"a".repeat(2048)}`, rules);
    expect(verdict).toEqual({ ok: false, code: "endpoint_invalid", reason });
  });

  test("may be http only where that is allowed", () => {
    expect(checkUrl("http://example.com/", { allowHttp: true, policy }).ok).toBe(true);
    expect(checkUrl("ftp://example.com/", { allowHttp: true, policy })).toMatchObject({ code: "endpoint_invalid" });
  });

  test("says nothing of its path or query when it is refused", () => {
    const verdict = checkUrl("https://user:hunter2@10.0.0.1/path?token=hunter3", rules);
    expect(JSON.stringify(verdict)).not.toMatch(/hunter|path/);
  });

  test("with a special IPv4 address is blocked in every way to write it", () => {
    fc.assert(
      fc.property(writtenIPv4(specialIPv4), (host) => {
        expect(checkUrl(`https://${host}/`, rules)).toMatchObject({ ok: false, code: "blocked_address" });
      }),
      { numRuns: 1_000 },
    );
  });

  test("of any text is answered and never passes with a special literal", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.webUrl(),
          fc.string().map((text) => `https://${text}/`),
        ),
        (text) => {
          const verdict = checkUrl(text, rules);
          if (!verdict.ok) return;
          const host = verdict.url.hostname.replaceAll(/[[\]]/g, "");
          expect(isIP(host) === 0 || policy.check(host).ok).toBe(true);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

/** What a socket would be handed. */
function lookUp(
  resolve: Resolve,
  options: { all?: boolean; family?: number } = { all: true },
): Promise<LookupAddress[]> {
  return new Promise((done, fail) => {
    guardedLookup(policy, resolve)("example.com", options, (error, address, family) => {
      if (error !== null) fail(error);
      else done(typeof address === "string" ? [{ address, family: family ?? 0 }] : address);
    });
  });
}

const answering =
  (...addresses: readonly string[]): Resolve =>
  () =>
    Promise.resolve(addresses.map((address) => ({ address, family: 4 })));

describe("the guarded resolver", () => {
  test("hands out what it checked, with the family that the address has", async () => {
    const found = await lookUp(answering("8.8.8.8", "2606:4700:4700::1111"));
    expect(found).toEqual([
      { address: "8.8.8.8", family: 4 },
      { address: "2606:4700:4700::1111", family: 6 },
    ]);
  });

  test("hands out one address, or one family, when asked for it", async () => {
    const resolve = answering("8.8.8.8", "2606:4700:4700::1111");
    expect(await lookUp(resolve, { all: false })).toEqual([{ address: "8.8.8.8", family: 4 }]);
    expect(await lookUp(resolve, { family: 6 })).toEqual([{ address: "2606:4700:4700::1111", family: 6 }]);
  });

  test("blocks a name as a whole when one of its addresses is not allowed", async () => {
    await expect(lookUp(answering("8.8.8.8", "10.0.0.1"))).rejects.toThrow(BlockedAddressError);
    await expect(lookUp(answering("10.0.0.1", "8.8.8.8"), { all: false })).rejects.toThrow(BlockedAddressError);
    // Also when the family that was asked for would leave the bad one out.
    await expect(lookUp(answering("8.8.8.8", "::1"), { family: 4 })).rejects.toThrow(BlockedAddressError);
  });

  test("fails plainly when there is no address or no answer", async () => {
    await expect(lookUp(answering())).rejects.toThrow(ResolveError);
    await expect(lookUp(() => Promise.reject(new Error("no answer")))).rejects.toThrow(ResolveError);
    await expect(lookUp(answering("8.8.8.8"), { family: 6 })).rejects.toThrow(ResolveError);
  });

  test("asks once, and hands out only checked addresses, whatever the answer is", async () => {
    const address = fc.oneof(fc.oneof(anyIPv4, specialIPv4).map(dotted), fc.ipV6(), fc.string());
    await fc.assert(
      fc.asyncProperty(fc.array(address, { maxLength: 4 }), async (addresses) => {
        let asked = 0;
        const resolve: Resolve = (name) => {
          asked += 1;
          return answering(...addresses)(name);
        };
        const found = await lookUp(resolve).catch((error: unknown) => error);
        expect(asked).toBe(1);
        if (Array.isArray(found)) expect(found.map((each: LookupAddress) => each.address)).toEqual(addresses);
        const allAllowed = addresses.length > 0 && addresses.every((each) => policy.check(each).ok);
        expect(Array.isArray(found)).toBe(allAllowed);
      }),
    );
  });
});
