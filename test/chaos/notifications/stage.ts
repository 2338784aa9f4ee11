/**
 * The stage for notifications: the kit's, with dispatchers next to its relays, and the sandbox's mail server, Postal and Slack as
 * a process that is never killed.
 *
 * Owns: the passing of time. Does not own: the faults and their targets, nor the verdict (oracle.ts).
 */
import { startAsked, type AskedProcess } from "../kit/asked-process.ts";
import type { RelayTrap } from "../kit/relay-part.ts";
import { layGround, Stage, type Ground, type StageOptions } from "../kit/stage.ts";
import { crowdOf, people, type Somebody } from "./directory.ts";
import type { Acts } from "./outside-child.ts";

export interface NotificationsOptions extends StageOptions {
  /** Default: 24. */
  readonly people?: number;
}

/** Unplugged, a relay reaches nobody: every connection is refused. */
type RelayHow = RelayTrap | "unplugged";

/** A port on which nobody listens. */
const nowhere = "127.0.0.1:9";

/** The first relay sends mail by SMTP, the next by Postal, and so on. */
export class NotificationsStage extends Stage<never, RelayHow> {
  readonly outside: AskedProcess<Acts>;
  readonly everybody: readonly Somebody[];
  readonly #smtpUrl: string;

  private constructor(ground: Ground, outside: AskedProcess<Acts>, smtpUrl: string, everybody: readonly Somebody[]) {
    super(ground);
    this.outside = outside;
    this.#smtpUrl = smtpUrl;
    this.everybody = everybody;
  }

  static async open(options: NotificationsOptions = {}): Promise<NotificationsStage> {
    await using undo = new AsyncDisposableStack();
    const everybody = crowdOf(options.people ?? 24);
    const ground = await layGround("notifications", options, undo, (client) => client.query(people(everybody)));
    const config = { headroomUrl: ground.front.url, people: everybody.length };
    const outside = await startAsked<Acts>(ground.codeDir, "notifications/outside-child.ts", config);
    undo.defer(() => outside.close());
    const stage = new NotificationsStage(ground, outside, await outside.ask("smtpUrl"), everybody);
    await stage.putUp(undo);
    await stage.rows("select headroom.set_secret('POSTAL_WEBHOOK_PUBLIC_KEY', $1)", [await outside.ask("postalKey")]);
    return stage;
  }

  protected override relayPart(how: RelayHow | undefined, place: number) {
    const config = {
      sandboxUrl: how === "unplugged" ? `http://${nowhere}` : this.outside.url,
      smtpUrl: how === "unplugged" ? `smtp://${nowhere}` : this.#smtpUrl,
      mailBy: place % 2 === 0 ? "smtp" : "postal",
      trap: how === "unplugged" ? undefined : how,
    };
    return ["notifications/relay-child.ts", config] as const;
  }

  protected override serverConfig() {
    return { trap: undefined };
  }

  /** Makes held parts due, as if the night had ended; or some of them. */
  async hurryHeld(share = 1): Promise<void> {
    await this.rows(
      `update notify.parts p set due_at = clock_timestamp() where (p.notification_id, p.channel) in (
         select h.notification_id, h.channel from notify.parts h
          where h.state = 'held' and h.due_at > clock_timestamp() and random() < $1 for update skip locked)`,
      [share],
    );
  }

  /** Moves the archive's lines this far into the past. */
  age(by: string): Promise<void> {
    return this.inArchive("update outbox.attempts set recorded_at = recorded_at - $1::interval", [by]);
  }
}
