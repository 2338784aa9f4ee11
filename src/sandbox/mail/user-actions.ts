/**
 * The mailbox for tests and pages: the mails, their links, and Postal's reports about them.
 */
import { createPublicKey, type KeyObject } from "node:crypto";
import { HeadroomError } from "../../db/errors.ts";
import type { World } from "../core/world.ts";
import type { Mail, Mailbox } from "./mailbox.ts";
import { publicKeyOf, report, type PostalEvent } from "./postal.ts";

export class MailUserActions {
  readonly #world: World;
  readonly #mailbox: Mailbox;
  readonly #key: KeyObject;

  constructor(world: World, mailbox: Mailbox, key: KeyObject) {
    this.#world = world;
    this.#mailbox = mailbox;
    this.#key = key;
  }

  /** The key that verifies Postal's webhooks: the base64 that Postal shows to its administrators. */
  get postalPublicKey(): string {
    return publicKeyOf(this.#key);
  }

  /** The same key in PEM. */
  get postalPublicKeyPem(): string {
    return createPublicKey(this.#key).export({ type: "spki", format: "pem" }).toString();
  }

  /** Newest first; only those to one address when it is given. */
  list(address?: string): readonly Mail[] {
    return this.#mailbox.list(address);
  }

  find(id: string): Mail {
    const mail = this.#mailbox.find(id);
    if (mail === undefined) {
      throw new HeadroomError("not_found", `There is no mail ${id}.`, { hint: "Reload the mailbox.", httpStatus: 404 });
    }
    return mail;
  }

  /** The links in a mail, in order, each once. */
  linksIn(mail: Mail): readonly string[] {
    const found = `${mail.text ?? ""}\n${mail.html ?? ""}`.matchAll(/https?:\/\/[^\s"'<>]+/g);
    return [...new Set([...found].map(([link]) => link.replaceAll("&amp;", "&").replace(/[.,;)]+$/, "")))];
  }

  /** Makes Postal report to Headroom what happened to a mail. */
  report(id: string, event: PostalEvent): void {
    report(this.#world, this.#key, this.find(id), event);
  }
}
