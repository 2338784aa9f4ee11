/**
 * Answers Slack in time, whatever the database does. Slack waits three seconds: when the answer takes longer, Slack is told that it is in
 * progress, and gets it later at the address that it gave for that.
 *
 * Owns: the time limit, the text until then, and where a late answer may be sent. Does not own: what the answer is (the database).
 */
import { z } from "zod";
import { provesRollback, type HeadroomError } from "../../db/errors.ts";
import type { Json } from "../../db/generated.gen.ts";
import { parseUrl } from "../../db/parse-url.ts";
import { readFields } from "../../web/form.ts";

/**
 * How something that was sent is answered while the database says nothing. Read from the body only when it is late or has failed: the body
 * is parsed by the database, once its signature is verified, and until then nothing in it is true. So nothing but the form of the answer
 * depends on this, and the address, which is one of Slack and is used once the database has answered.
 */
export interface SlackShape {
  readonly kind: "command" | "form" | "other";
  /** Where the answer to a command may follow. */
  readonly responseUrl: string | undefined;
}

export function shapeOf(body: string): SlackShape {
  const fields = fieldsOf(body);
  if (fields.has("command")) return { kind: "command", responseUrl: fields.get("response_url") ?? undefined };
  const payload = payloadSchema.safeParse(parseOrNothing(fields.get("payload")));
  return { kind: payload.data?.type === "view_submission" ? "form" : "other", responseUrl: undefined };
}

const payloadSchema = z.object({ type: z.string() });

export function isSslCheck(body: string): boolean {
  return fieldsOf(body).get("ssl_check") === "1";
}

/** Events come as JSON, and have no fields. Neither has what Slack does not send: the database refuses it. */
function fieldsOf(body: string): URLSearchParams {
  return (body.trimStart().startsWith("{") ? undefined : readFields(body)) ?? new URLSearchParams();
}

function parseOrNothing(text: string | null): unknown {
  try {
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** An empty object is no answer at all, which is what Slack takes as well. */
export function slackResponse(answer: Json): Response {
  const isEmpty = typeof answer === "object" && answer !== null && Object.keys(answer).length === 0;
  return isEmpty ? new Response(null, { status: 200 }) : Response.json(answer);
}

/** The answer while the work goes on. It replaces a form; the database tells the sender what is wrong with the form. */
export function meanwhile({ kind }: SlackShape): Response {
  if (kind === "command") return Response.json(note("Still working on it. The answer follows here."));
  if (kind === "form") return Response.json({ response_action: "update", view: stillWorking });
  return new Response(null, { status: 200 });
}

/** Closing the form would look like success, which is not known yet. */
const stillWorking = {
  type: "modal",
  title: { type: "plain_text", text: "Still working on it" },
  close: { type: "plain_text", text: "Close" },
  blocks: [
    {
      type: "section",
      text: {
        type: "mrkdwn",
        text: "This takes longer than Slack waits. You will find the result where you opened the form; `/capacity list` shows it too.",
      },
    },
  ],
};

/** For somebody who typed a command. Elsewhere Slack itself shows that something went wrong, and it sends events again. */
export function failureText(error: HeadroomError): Json {
  if (error.code === "not_configured") {
    return note("Headroom is not set up for Slack yet. Ask its operator. Nothing was changed.");
  }
  return note(
    provesRollback(error)
      ? "Headroom could not do this just now. Nothing was changed; try again in a moment."
      : "Headroom could not be reached just now. It may have been done; `/capacity list` shows it.",
  );
}

function note(text: string): { response_type: string; text: string } {
  return { response_type: "ephemeral", text };
}

const slackResponseUrls = ["https://hooks.slack.com/"] as const;

/** Only an address of Slack, or of its stand-in: a request must not make this server call anybody else. */
export function isResponseUrl(address: string, allowed: readonly string[] = slackResponseUrls): boolean {
  const url = parseUrl(address);
  if (url === null || url.username !== "" || url.password !== "" || url.hash !== "") return false;
  return allowed.some((base) => {
    const known = parseUrl(base);
    return known !== null && known.origin === url.origin && url.pathname.startsWith(known.pathname);
  });
}

/** Sends a late answer. Slack takes one for half an hour; one that fails is not tried again, since the request can be looked at later. */
export async function sendLate(responseUrl: string, answer: Json, signal: AbortSignal): Promise<number> {
  const response = await fetch(responseUrl, {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8" },
    body: JSON.stringify(answer),
    redirect: "error",
    signal,
  });
  await response.body?.cancel();
  return response.status;
}
