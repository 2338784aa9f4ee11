/**
 * Every mail that was accepted, by SMTP or by Postal's API: one mailbox for all addresses.
 *
 * Owns: the mails and their bounds. Does not own: how they arrived, or the page.
 */
import PostalMime from "postal-mime";
import { listOf, type Saveable } from "../core/state-file.ts";
import type { World } from "../core/world.ts";

export interface Mail {
  readonly id: string;
  readonly at: string;
  readonly via: "smtp" | "postal";
  readonly from: string;
  /** The envelope's recipients. */
  readonly to: readonly string[];
  readonly subject: string;
  readonly messageId: string | undefined;
  readonly text: string | undefined;
  readonly html: string | undefined;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** The sender's tag, from Postal's API. */
  readonly tag?: string | undefined;
  /** What happened to it, for mails that Postal reports on. */
  status: "accepted" | "sent" | "bounced";
}

/** An address that no server knows: at the domain bounces.example. Write to one to see a mail bounce. */
export function neverWorks(address: string): boolean {
  return address.toLowerCase().endsWith("@bounces.example");
}

export class Mailbox implements Saveable {
  readonly #world: World;
  readonly #limit: number;
  #mails: Mail[] = [];

  constructor(world: World, limit: number) {
    this.#world = world;
    this.#limit = limit;
  }

  save(): unknown {
    return this.#mails;
  }

  load(saved: unknown): void {
    this.#mails = listOf<Mail>().parse(saved);
  }

  reset(): void {
    this.#mails = [];
  }

  /** Newest first; only those to one address when it is given. */
  list(address?: string): readonly Mail[] {
    const wanted = address?.toLowerCase();
    return this.#mails
      .filter(({ to }) => wanted === undefined || to.some((each) => each.toLowerCase() === wanted))
      .toReversed();
  }

  find(id: string): Mail | undefined {
    return this.#mails.find((mail) => mail.id === id);
  }

  add(mail: Omit<Mail, "id" | "at" | "status">): Mail {
    const added: Mail = {
      ...mail,
      id: this.#world.ids.next("mail-", 4),
      at: new Date(this.#world.now()).toISOString(),
      status: "accepted",
    };
    this.#mails.push(added);
    if (this.#mails.length > this.#limit) this.#mails.shift();
    this.#world.changed();
    return added;
  }
}

/** Parses a raw mail. */
export async function readMail(
  raw: Buffer,
  envelope: { readonly from: string; readonly to: readonly string[] },
): Promise<Omit<Mail, "id" | "at" | "status">> {
  const parsed = await PostalMime.parse(raw);
  return {
    via: "smtp",
    from: parsed.from?.address ?? envelope.from,
    to: envelope.to,
    subject: parsed.subject ?? "",
    messageId: parsed.messageId,
    text: parsed.text,
    html: parsed.html,
    headers: Object.fromEntries(parsed.headers.map(({ key, value }) => [key.toLowerCase(), value])),
  };
}
