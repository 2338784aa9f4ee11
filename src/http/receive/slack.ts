/**
 * Answers Slack in time, however long the database takes. Slack waits three seconds. If the answer takes longer, Slack is told that it is
 * in progress, and gets it later at the address that it gave for that.
 *
 * Owns: the time limit, the text until then, and where a late answer may be sent. Does not own: what the answer is (the database).
 */
import { z } from "zod";
import { provesRollback, type HeadroomError } from "../../db/errors.ts";
import type { Json } from "../../db/generated.gen.ts";
import { parseUrl } from "../../db/parse-url.ts";
import { readFields } from "../../web/form.ts";

/**
 * How to answer a request when the database says nothing. Read from the body only when the answer is late or has failed: the database
 * parses the body once its signature is verified, and until then nothing in it can be trusted. Only the form of the answer and the
 * address depend on this. The address must be one of Slack's, and is used only after the database has answered.
 */
export interface SlackShape {
  readonly kind: "command" | "form" | "other";
  /** Where a late answer to a command may be sent. */
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

/** Events come as JSON and have no fields. Nor do bodies that Slack did not send: the database refuses those. */
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

/** An empty object means no answer; Slack accepts that too. */
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

/** Closing the form would look like success before the outcome is known. */
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

/** For the person who typed a command. Elsewhere Slack itself shows that something went wrong, and it resends events. */
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

/** Only an address of Slack, or of its stand-in: a request must not make this server call any other host. */
export function isResponseUrl(address: string, allowed: readonly string[] = slackResponseUrls): boolean {
  const url = parseUrl(address);
  if (url === null || url.username !== "" || url.password !== "" || url.hash !== "") return false;
  return allowed.some((base) => {
    const known = parseUrl(base);
    return known !== null && known.origin === url.origin && url.pathname.startsWith(known.pathname);
  });
}

/** Sends a late answer. Slack accepts one for half an hour. A failed one is not retried, because the sender can open the request later. */
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
