/**
 * Forwards Slack's posts to a database behind PostgREST. Slack posts forms, which PostgREST passes to no function; as plain text the body
 * arrives unchanged, and the signature is over exactly those bytes. Nothing is parsed, decoded or decided here.
 *
 * Owns: the content type, and an answer within Slack's three seconds. Does not own: signatures and the meaning of posts,
 * which the database handles.
 */

export interface Environment {
  /** Where PostgREST is, such as https://<project>.supabase.co */
  readonly SUPABASE_URL: string;
  /** The anon key: it only opens the gateway; the signature authenticates the post. */
  readonly SUPABASE_ANON_KEY: string;
  /** How long to wait for the answer itself, in milliseconds. Default: 2,500. */
  readonly ACKNOWLEDGE_MS?: string;
  /** Where late answers may go. Default: Slack's own. */
  readonly RESPONSE_URL_BASE?: string;
}

interface Context {
  waitUntil(work: Promise<unknown>): void;
}

const maxBodyBytes = 1_048_576;
const maxLateMs = 25_000;
/** The headers forwarded with the body: the signature, and Slack's retry headers. */
const passedOn = [
  "x-slack-signature",
  "x-slack-request-timestamp",
  "x-slack-retry-num",
  "x-slack-retry-reason",
] as const;

interface Answer {
  readonly status: number;
  readonly text: string;
}

async function receive(request: Request, environment: Environment, context: Context): Promise<Response> {
  if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
  if (Number(request.headers.get("content-length") ?? 0) > maxBodyBytes) return new Response(null, { status: 413 });
  const body = await request.arrayBuffer();
  if (body.byteLength > maxBodyBytes) return new Response(null, { status: 413 });
  // Slack checks the certificate now and then, without a signature.
  if (!request.headers.has("x-slack-signature")) {
    return new Response(null, { status: fieldsOf(body).get("ssl_check") === "1" ? 200 : 401 });
  }

  const answer = forward(request, body, environment);
  const clock = new AbortController();
  const first = await Promise.race([answer, after(Number(environment.ACKNOWLEDGE_MS ?? 2_500), clock.signal)]);
  clock.abort();
  if (first !== undefined) return toSlack(first, body);
  context.waitUntil(answer.then((late) => follow(late, body, environment)));
  return isForm(body) ? json(stillWorking) : new Response(null, { status: 200 });
}

/** Undefined when the time has passed. */
function after(milliseconds: number, signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(undefined), milliseconds);
    signal.addEventListener("abort", () => clearTimeout(timer));
  });
}

/** Never rejects: a database that cannot be reached is an answer too. */
async function forward(request: Request, body: ArrayBuffer, environment: Environment): Promise<Answer> {
  const headers = new Headers({
    "content-type": "text/plain",
    accept: "application/json",
    apikey: environment.SUPABASE_ANON_KEY,
    authorization: `Bearer ${environment.SUPABASE_ANON_KEY}`,
  });
  for (const name of passedOn) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  try {
    const response = await fetch(
      new URL("/rest/v1/rpc/handle_slack_webhook", environment.SUPABASE_URL),
      // A redirect would carry the key elsewhere.
      { method: "POST", headers, body, redirect: "manual", signal: AbortSignal.timeout(maxLateMs) },
    );
    return { status: response.status, text: await response.text() };
  } catch {
    return { status: 502, text: "" };
  }
}

/** A refusal keeps its status but not its message, which is for the operator of the database. */
function toSlack({ status, text }: Answer, body: ArrayBuffer): Response {
  if (status === 200) {
    return text === "{}" || text === "" ? new Response(null, { status: 200 }) : json(text);
  }
  if (status < 500 || !fieldsOf(body).has("command"))
    return new Response(null, { status: status < 400 ? 502 : status });
  return json(failure(text));
}

/** The answer to a failed command. Only an error state from the database proves that nothing was changed. */
function failure(text: string): string {
  return JSON.stringify({
    response_type: "ephemeral",
    text: provesRollback(text)
      ? "Headroom could not do this just now. Nothing was changed; try again in a moment."
      : "Headroom could not be reached just now. It may have been done; `/capacity list` shows it.",
  });
}

/** PostgREST passes the SQLSTATE on. A connection that broke may have broken after the commit, whoever reports it. */
function provesRollback(text: string): boolean {
  const state = fieldOf(text, "code");
  return state !== undefined && /^[0-9A-Z]{5}$/.test(state) && !/^(?:08|40003|57P0|58|XX)/.test(state);
}

/** This replaces a form: closing the form would look like success, which is not known yet. */
const stillWorking = JSON.stringify({
  response_action: "update",
  view: {
    type: "modal",
    title: { type: "plain_text", text: "Still working on it" },
    close: { type: "plain_text", text: "Close" },
    blocks: [
      {
        type: "section",
        text: {
          type: "mrkdwn",
          text: "This takes longer than Slack waits. The result is posted where you opened the form; `/capacity list` shows it too.",
        },
      },
    ],
  },
});

function isForm(body: ArrayBuffer): boolean {
  return fieldOf(fieldsOf(body).get("payload") ?? "", "type") === "view_submission";
}

/** A text in a JSON object; undefined for anything else. */
function fieldOf(text: string, name: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const value: unknown = typeof parsed === "object" && parsed !== null ? Reflect.get(parsed, name) : undefined;
    return typeof value === "string" ? value : undefined;
  } catch {
    return undefined;
  }
}

function json(text: string): Response {
  return new Response(text, { status: 200, headers: { "content-type": "application/json; charset=utf-8" } });
}

/**
 * Sends the late answer to a command to the address that came with it. A refusal of the database is not sent, since Slack may not have
 * signed the post; that the database could not be reached is sent, because it reveals nothing to a person who did not know the address.
 */
async function follow({ status, text }: Answer, body: ArrayBuffer, environment: Environment): Promise<void> {
  const fields = fieldsOf(body);
  const address = fields.get("response_url");
  const base = environment.RESPONSE_URL_BASE ?? "https://hooks.slack.com/";
  if (!fields.has("command") || address === null || !isBelow(address, base)) return;
  if (status !== 200 && status < 500) return;
  await fetch(address, {
    method: "POST",
    headers: { "content-type": "application/json; charset=utf-8" },
    body: status === 200 ? text : failure(text),
    redirect: "manual",
    signal: AbortSignal.timeout(maxLateMs),
  });
}

function isBelow(address: string, base: string): boolean {
  const [url, known] = [URL.parse(address), URL.parse(base)];
  if (url === null || known === null || url.username !== "" || url.password !== "") return false;
  return url.origin === known.origin && url.pathname.startsWith(known.pathname);
}

/** Only to decide how to answer; the bytes are forwarded unchanged. */
function fieldsOf(body: ArrayBuffer): URLSearchParams {
  return new URLSearchParams(new TextDecoder().decode(body));
}

export default { fetch: receive };
