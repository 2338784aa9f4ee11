/**
 * Calls the renderers: each is a pure function of a story, so no request is needed.
 */
import type { TestDatabase } from "../../../helpers/database.ts";
import type { Message } from "./block-kit.ts";
import type { Story } from "./story.ts";
import { oneOf } from "../harness.ts";

export type Renderer =
  "render_slack_reply" | "render_linear_issue" | "render_linear_comment" | "render_linear_state" | "render_event";

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

export async function render<T>(db: TestDatabase, renderer: Renderer, story: Story): Promise<T> {
  const answer = await oneOf<{ made: T }>(db.superuser.pool, `select capacity.${renderer}($1) as made`, [
    JSON.stringify(story),
  ]);
  return answer.made;
}

/** The text of a template of capacity.tells, as a channel's message. */
export async function tell<T>(
  db: TestDatabase,
  template: string,
  channel: "email" | "slack" | "in-app",
  story: Story,
  address = "buyer@initech.example",
): Promise<T> {
  const text = "select capacity.preview_tell($1, $2, $3, p_address => $4) as made";
  return (await oneOf<{ made: T }>(db.superuser.pool, text, [JSON.stringify(story), template, channel, address])).made;
}

export async function root(db: TestDatabase, story: Story, method = "chat.postMessage"): Promise<Message> {
  const values = [JSON.stringify(story), method];
  return (
    await oneOf<{ made: Message }>(db.superuser.pool, "select capacity.render_slack_root($1, $2) as made", values)
  ).made;
}

export async function textOf(
  db: TestDatabase,
  name: "render_text" | "slack_text",
  text: string,
  most: number,
): Promise<string> {
  return (await oneOf<{ made: string }>(db.superuser.pool, `select notify.${name}($1, $2) as made`, [text, most])).made;
}
