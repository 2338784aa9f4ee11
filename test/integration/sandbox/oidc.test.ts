import * as oidc from "openid-client";
import { describe, expect, test } from "vitest";
import type { Sandbox } from "../../../src/sandbox/sandbox.ts";
import { setStage, type Stage } from "./harness.ts";

const clientId = "headroom";
const clientSecret = "headroom-sandbox-secret";

async function discover(sandbox: Sandbox): Promise<oidc.Configuration> {
  const issuer = new URL(`${sandbox.url}/oidc`);
  return oidc.discovery(issuer, clientId, clientSecret, undefined, { execute: [oidc.allowInsecureRequests] });
}

interface Begun {
  readonly url: URL;
  readonly redirectUri: string;
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
}

async function begin(stage: Stage, configuration: oidc.Configuration): Promise<Begun> {
  const redirectUri = `${stage.ear.url}/auth/oidc/callback`;
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  const nonce = oidc.randomNonce();
  const url = oidc.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    scope: "openid email profile",
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    nonce,
  });
  return { url, redirectUri, verifier, state, nonce };
}

/** Picks a person on the page, as a browser without scripts does, and returns where it is sent. */
async function pick(url: URL, person: string): Promise<URL> {
  const markup = await (await fetch(url)).text();
  expect(markup).toContain("Riley Reyes");
  const hidden = [...markup.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)];
  const fields = Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, value.replaceAll("&amp;", "&")]));
  const answer = await fetch(`${url.origin}/oidc/authorize`, {
    method: "POST",
    body: new URLSearchParams({ ...fields, person }),
    redirect: "manual",
  });
  expect(answer.status).toBe(303);
  return new URL(answer.headers.get("location") ?? "");
}

describe("the identity provider, through openid-client", () => {
  test("a person is picked, the code is exchanged, and the tokens verify", async () => {
    await using stage = await setStage();
    const configuration = await discover(stage.sandbox);
    const begun = await begin(stage, configuration);
    const callback = await pick(begun.url, "vera");
    const tokens = await oidc.authorizationCodeGrant(configuration, callback, {
      pkceCodeVerifier: begun.verifier,
      expectedState: begun.state,
      expectedNonce: begun.nonce,
      idTokenExpected: true,
    });
    expect(tokens.claims()).toMatchObject({ sub: "vera", email: "vera@headroom.example", email_verified: true });
    const info = await oidc.fetchUserInfo(configuration, tokens.access_token, "vera");
    expect(info.name).toBe("Vera Novak");
  });

  test("a code is valid once, and only with its verifier", async () => {
    await using stage = await setStage();
    const configuration = await discover(stage.sandbox);
    const begun = await begin(stage, configuration);
    const checks = { expectedState: begun.state, expectedNonce: begun.nonce };
    const stolen = await pick(begun.url, "vera");
    await expect(
      oidc.authorizationCodeGrant(configuration, stolen, {
        ...checks,
        pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
      }),
    ).rejects.toMatchObject({ error: "invalid_grant" });
    const callback = await pick(begun.url, "vera");
    await oidc.authorizationCodeGrant(configuration, callback, { ...checks, pkceCodeVerifier: begun.verifier });
    await expect(
      oidc.authorizationCodeGrant(configuration, callback, { ...checks, pkceCodeVerifier: begun.verifier }),
    ).rejects.toMatchObject({ error: "invalid_grant" });
  });

  test("an unregistered redirect or client gets an error page and is sent nowhere", async () => {
    await using stage = await setStage();
    const { url } = await begin(stage, await discover(stage.sandbox));
    for (const [name, value] of [
      ["redirect_uri", `${stage.ear.url}/auth/oidc/callback/evil`],
      ["client_id", "somebody"],
    ] as const) {
      const forged = new URL(url);
      forged.searchParams.set(name, value);
      const answer = await fetch(forged, { redirect: "manual" });
      expect(answer.status).toBe(400);
      expect(answer.headers.get("location")).toBeNull();
    }
    const noPkce = new URL(url);
    noPkce.searchParams.delete("code_challenge");
    const sentBack = await fetch(noPkce, { redirect: "manual" });
    expect(new URL(sentBack.headers.get("location") ?? "").searchParams.get("error")).toBe("invalid_request");
  });

  test("a person who refuses is sent back with access_denied", async () => {
    await using stage = await setStage();
    const { url } = await begin(stage, await discover(stage.sandbox));
    const callback = await pick(url, "");
    expect(callback.searchParams.get("error")).toBe("access_denied");
    expect(callback.searchParams.get("code")).toBeNull();
  });

  test("a wrong secret gets no token", async () => {
    await using stage = await setStage();
    const issuer = new URL(`${stage.sandbox.url}/oidc`);
    const wrong = await oidc.discovery(issuer, clientId, "wrong", undefined, { execute: [oidc.allowInsecureRequests] });
    const begun = await begin(stage, wrong);
    const callback = await pick(begun.url, "vera");
    await expect(
      oidc.authorizationCodeGrant(wrong, callback, {
        pkceCodeVerifier: begun.verifier,
        expectedState: begun.state,
        expectedNonce: begun.nonce,
      }),
    ).rejects.toMatchObject({ error: "invalid_client" });
  });
});
