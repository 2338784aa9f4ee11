import { expect, test } from "vitest";
import { codeOfAnswerError, codeOfConnectError } from "./exchange-codes.ts";

test("an unknown error of the platform is a failed connection before sending and a lost one after", () => {
  expect(codeOfConnectError("ECONNREFUSED")).toBe("connect_refused");
  expect(codeOfConnectError("ENOTFOUND")).toBe("dns_failed");
  expect(codeOfConnectError("EWHATEVER")).toBe("connect_failed");
  expect(codeOfConnectError(undefined)).toBe("connect_failed");
  expect(codeOfAnswerError("HPE_INVALID_CONSTANT")).toBe("bad_answer");
  expect(codeOfAnswerError("ECONNRESET")).toBe("connection_lost");
  expect(codeOfAnswerError(undefined)).toBe("connection_lost");
});
