import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { addressKey, clientAddress } from "./client-address.ts";

const seen = (forwarded: string | null, proxies: number): string => clientAddress(forwarded, "2001:db8::7", proxies);
const hex = (groups: readonly number[]): string => groups.map((value) => value.toString(16)).join(":");

describe("an address counts", () => {
  it.each([
    ["192.0.2.7", "192.0.2.7"],
    ["192.0.2.7:51234", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["::FFFF:c000:207", "192.0.2.7"],
    ["[::ffff:192.0.2.7]:443", "192.0.2.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::9]:443", "2001:db8:1:2::/64"],
    ["2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0db8:0000:0000:ffff::1", "2001:db8:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ])("%s as %s", (address, key) => {
    expect(addressKey(address)).toBe(key);
  });

  it.each([
    "",
    "unknown",
    "_hidden",
    "192.0.2",
    "192.0.2.07",
    "1.2.3.4.5",
    "2001:db8",
    "[::1",
    ":::",
    "x".repeat(9_000),
  ])("not at all when it is not an address: %s", (text) => {
    expect(addressKey(text)).toBeUndefined();
  });

  it("the same for all of a /64, and different from every other", () => {
    const group = fc.integer({ min: 0, max: 0xffff });
    // The first group avoids the mapped addresses.
    const network = fc.tuple(fc.integer({ min: 1, max: 0xffff }), group, group, group);
    const host = fc.tuple(group, group, group, group);
    fc.assert(
      fc.property(network, network, host, host, (one, two, here, there) => {
        const key = addressKey(hex([...one, ...here]));
        expect(key).toBe(addressKey(hex([...one, ...there])));
        expect(key === addressKey(hex([...two, ...here]))).toBe(hex(one) === hex(two));
      }),
    );
  });
});

test("the address that a trusted proxy saw counts, or the socket's if the proxy sent none", () => {
  expect(seen("192.0.2.1", 0)).toBe("2001:db8:0:0::/64");
  expect(seen("192.0.2.1, 192.0.2.2", 1)).toBe("192.0.2.2");
  expect(seen("192.0.2.1, 192.0.2.2", 2)).toBe("192.0.2.1");
  for (const forwarded of [null, "", " , ", "192.0.2.1, unknown", `192.0.2.1, ${"y".repeat(9_000)}`]) {
    expect(seen(forwarded, 1)).toBe("2001:db8:0:0::/64");
  }
  expect(clientAddress(null, undefined, 0)).toBe("unknown");
});
