/**
 * What the stand-in identity provider remembers: its client, and the codes and tokens that it issued.
 */
import type { Person } from "../sample-data.ts";
import type { World } from "../core/world.ts";

export interface OidcClient {
  readonly clientId: string;
  /** Without it, a public client, which proves itself only by PKCE. */
  readonly clientSecret?: string;
  /** The only allowed redirects. Default: Headroom's own, once it is connected. */
  readonly redirectUris?: readonly string[];
}

export interface Grant {
  readonly person: Person;
  readonly redirectUri: string;
  readonly challenge: string;
  readonly nonce: string | undefined;
  readonly scope: string;
  readonly expiresAt: number;
}

export const defaultClient: OidcClient = { clientId: "headroom", clientSecret: "headroom-sandbox-secret" };
const codeLifeMs = 60_000;
export const tokenLifeSeconds = 600;
const maxGrants = 1_000;

export class OidcState {
  readonly #world: World;
  readonly client: OidcClient;
  readonly #codes = new Map<string, Grant>();
  readonly #tokens = new Map<string, Person>();

  constructor(world: World, client: OidcClient) {
    this.#world = world;
    this.client = client;
  }

  reset(): void {
    this.#codes.clear();
    this.#tokens.clear();
  }

  get redirectUris(): readonly string[] {
    const headroom = this.#world.webhooks.headroomUrl;
    return this.client.redirectUris ?? (headroom === undefined ? [] : [`${headroom}/auth/oidc/callback`]);
  }

  newCode(grant: Omit<Grant, "expiresAt">): string {
    const code = this.#world.ids.next("code_", 12);
    this.#codes.set(code, { ...grant, expiresAt: this.#world.now() + codeLifeMs });
    dropOldest(this.#codes);
    return code;
  }

  /** A code works once. */
  redeem(code: string): Grant | undefined {
    const grant = this.#codes.get(code);
    this.#codes.delete(code);
    return grant !== undefined && this.#world.now() <= grant.expiresAt ? grant : undefined;
  }

  newToken(person: Person): string {
    const token = this.#world.ids.next("access_", 12);
    this.#tokens.set(token, person);
    dropOldest(this.#tokens);
    return token;
  }

  personOf(token: string): Person | undefined {
    return this.#tokens.get(token);
  }
}

function dropOldest(map: Map<string, unknown>): void {
  const oldest = map.size > maxGrants ? map.keys().next().value : undefined;
  if (oldest !== undefined) map.delete(oldest);
}
