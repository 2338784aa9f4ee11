#!/usr/bin/env node
/**
 * Reports from a workflow to Headroom: that it claims a job, that it is alive and what it is doing, and how the job ended.
 *
 *   node headroom.mjs start                    claims the job, writes its terms for later steps, starts the heartbeats
 *   node headroom.mjs step "<name>" [percent]  reports the step that begins; exits 1 when the run must stop
 *   node headroom.mjs exec -- <command> …      runs a command that is stopped when the run must stop
 *   node headroom.mjs finish                   ends the heartbeats and reports HEADROOM_RESULT, which is the job's status
 *
 * All input comes from the environment (HEADROOM_JOB_ID, …, see `settings`), so that nothing is ever part of shell text. The commands
 * share state in files below RUNNER_TEMP. Needs Node 20 and nothing else.
 *
 * Optional: HEADROOM_ERROR (why it failed; `exec` sets it), HEADROOM_API_KEY (sent as `apikey`, if a gateway requires one),
 * HEADROOM_RETRY_MS (the first wait before a call is tried again; default 1000; how long it is tried is a multiple), HEADROOM_CALL_TIMEOUT_MS
 * (how long one try may take; default 10000), HEADROOM_HEARTBEAT_MS (how often it sends a heartbeat; default: as Headroom asks).
 */
import { spawn } from "node:child_process";
import { createHmac, randomUUID } from "node:crypto";
import { appendFileSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const retryMs = Number(process.env.HEADROOM_RETRY_MS) || 1_000;
const callTimeoutMs = Number(process.env.HEADROOM_CALL_TIMEOUT_MS) || 10_000;
/**
 * How long a message is resent until Headroom answers. A claim and a result each have their own step of the workflow, whose
 * `timeout-minutes` exceed this and one more try: a step that GitHub ends would turn a success into a failure. A heartbeat takes time away
 * from the user's work.
 */
const reportPatienceMs = 150 * retryMs;
const patiencesMs = {
  claim: reportPatienceMs,
  heartbeat: 10 * retryMs,
  succeeded: reportPatienceMs,
  failed: reportPatienceMs,
};
const maxWaitMs = 15 * retryMs;
const maxRetryAfterMs = 60_000;
/** The limits of Headroom; a body may have 16 KiB, and an error gets most of it. */
const maxNameChars = 200;
const maxErrorChars = 4_000;
const maxErrorBytes = 12_000;
const maxErrorLines = 20;
const maxAnswerBytes = 65_536;
/** How long a command that has ended may leave its error output open. */
const drainMs = 1_000;
const hasGroups = process.platform !== "win32";

/** Headroom itself refused: another try would not help. */
class Refused extends Error {
  constructor(message, code) {
    super(message);
    this.code = code;
  }
}
/** Headroom could not be reached, or did not answer. */
class Unreachable extends Error {}
/** The command was called wrongly. */
class Misused extends Error {}

// --- texts

/** One line without control characters and terminal colours, no longer than Headroom accepts. */
function clean(text, maxChars) {
  const line = stripVTControlCharacters(String(text).toWellFormed())
    .replace(/[\r\n]+/g, " | ")
    .replace(/\p{Cc}+/gu, " ")
    .trim();
  return Array.from(line).slice(0, maxChars).join("");
}

function cleanError(text) {
  let error = clean(text, maxErrorChars);
  while (Buffer.byteLength(JSON.stringify(error)) > maxErrorBytes) error = clean(error, Array.from(error).length - 100);
  return error;
}

// No line begins with "::", so that GitHub does not treat other people's text as a command.
const say = (text) => console.log(`headroom: ${clean(text, 1_000)}`);
const complain = (text) => console.error(`headroom: ${clean(text, 1_000)}`);

/** For GITHUB_ENV and GITHUB_OUTPUT. The delimiter is random, so no value can end it and set something else. */
function writeForLaterSteps(path, values) {
  if (!path) return;
  for (const [name, value] of Object.entries(values)) {
    const delimiter = `end-${randomUUID()}`;
    appendFileSync(path, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
  }
}

// --- settings, and state shared between commands

const whereItIsSet = {
  HEADROOM_CALLBACK_URL: " It is a variable of the repository; `headroom jobs connect` says its value.",
};

function settings() {
  const text = (name) => {
    const value = process.env[name];
    if (!value) throw new Misused(`${name} is not set.${whereItIsSet[name] ?? ""}`);
    return value;
  };
  const number = (name) => {
    if (!/^[1-9]\d{0,15}$/.test(text(name))) throw new Misused(`${name} is not a number from 1.`);
    return Number(text(name));
  };
  const task = text("HEADROOM_TASK");
  if (task !== "provision" && task !== "cleanup") throw new Misused("HEADROOM_TASK is provision or cleanup.");
  return {
    url: addressOf(text("HEADROOM_CALLBACK_URL")),
    secret: text("HEADROOM_CALLBACK_SECRET"),
    job: {
      workspace: text("HEADROOM_WORKSPACE"),
      job_id: text("HEADROOM_JOB_ID"),
      task,
      attempt: number("HEADROOM_ATTEMPT"),
      run_id: number("GITHUB_RUN_ID"),
      run_attempt: number("GITHUB_RUN_ATTEMPT"),
    },
  };
}

function addressOf(text) {
  if (!URL.canParse(text)) throw new Misused("HEADROOM_CALLBACK_URL is not an address.");
  const url = new URL(text);
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback))
    throw new Misused("HEADROOM_CALLBACK_URL must begin with https:// (http:// is for this machine alone).");
  if (url.username !== "" || url.password !== "") throw new Misused("HEADROOM_CALLBACK_URL must hold no password.");
  return url;
}

function fileOf(name) {
  if (!process.env.RUNNER_TEMP) throw new Misused("RUNNER_TEMP is not set.");
  return join(process.env.RUNNER_TEMP, "headroom", name);
}

function recall(name) {
  try {
    return JSON.parse(readFileSync(fileOf(name), "utf8"));
  } catch {
    return undefined;
  }
}

/** Renamed into place: a concurrent reader finds the old file or the new one, never half of one. */
function remember(name, value) {
  const draft = fileOf(`${name}.${process.pid}`);
  writeFileSync(draft, JSON.stringify(value), { mode: 0o600 });
  renameSync(draft, fileOf(name));
}

const forget = (name) => rmSync(fileOf(name), { force: true });

// --- calls

/** Sends a message until Headroom answers or time is up. Each try has its own id and time, so that none is a replay of another. */
async function send(signal, more) {
  const { url, secret, job } = settings();
  const until = Date.now() + patiencesMs[signal];
  for (let tries = 1; ; tries += 1) {
    const heard = await post(url, secret, { id: randomUUID(), ...job, signal, ...more });
    if (heard.answer !== undefined) return heard.answer;
    if (heard.code !== undefined) throw new Refused(`Headroom refuses the ${signal}: ${heard.problem}`, heard.code);
    const leftMs = until - Date.now();
    if (leftMs <= 0) throw new Unreachable(`Headroom did not take the ${signal} in ${tries} tries: ${heard.problem}`);
    complain(`${signal}: ${heard.problem}; trying again`);
    const backoffMs = Math.min(retryMs * 2 ** (tries - 1), maxWaitMs) * (0.75 + Math.random() / 2);
    // However long the server asks to wait, there is a last try when the time is up.
    await sleep(Math.min(heard.afterMs ?? backoffMs, leftMs));
  }
}

/** One try: `answer`; a `problem` with the `code` of a refusal; or a `problem` after which it is sent again. */
async function post(url, secret, message) {
  const body = JSON.stringify(message);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac("sha256", secret).update(`v1:${timestamp}:${body}`).digest("hex");
  const headers = {
    // PostgREST passes a whole body to a function only as text.
    "content-type": url.pathname.includes("/rpc/") ? "text/plain" : "application/json",
    "x-headroom-timestamp": timestamp,
    "x-headroom-signature": `v1=${signature}`,
    ...(process.env.HEADROOM_API_KEY ? { apikey: process.env.HEADROOM_API_KEY } : {}),
  };
  let response, said;
  try {
    const signal = AbortSignal.timeout(callTimeoutMs);
    // A signed message is for one address only, so redirects are not followed.
    response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
    said = await textOf(response);
  } catch (error) {
    return { problem: codeOfError(error) };
  }
  const data = parse(said);
  if (isAnswer(response.status, data, message.signal)) return { answer: data };
  const words = clean(data?.message ?? data?.detail ?? data?.title ?? "", 300);
  const problem = `HTTP ${response.status} ${words}`.trim();
  const code = refusalOf(data);
  if (code !== undefined) return { problem, code };
  return { problem, afterMs: quietOf(response.status, response.headers) };
}

/** Accepts only Headroom's answers to this signal; anything else with a 200 comes from a proxy. */
function isAnswer(status, data, signal) {
  if (status < 200 || status > 299 || !["accepted", "repeated", "ignored", "stop"].includes(data?.outcome))
    return false;
  if (data.go_on === false) return true;
  return data.go_on === true && (signal === "heartbeat" || (signal === "claim" && typeof data.job === "object"));
}

/**
 * The code of Headroom's final refusal, from the body alone, because a proxy can make its own status. Headroom answers in one of three
 * forms: the answer to a callback, a problem (RFC 9457), and PostgREST's error.
 */
function refusalOf(data) {
  const { status, code } =
    /^PT\d{3}$/.test(data?.code) && typeof data.details === "string"
      ? { status: Number(data.code.slice(2)), code: /^\w+/.exec(data.details)?.[0] }
      : data?.go_on === false || data?.type === `urn:headroom:problem:${data?.code}`
        ? data
        : {};
  // The message had arrived: a proxy sent it twice. A new try gets the outcome.
  if (typeof code !== "string" || code === "already_used") return undefined;
  return outcomeOfStatus(status) === "rejected" ? code : undefined;
}

/**
 * What a status alone proves: the rails' table (src/rails/exchange-codes.ts), kept equal by a test. A `rejected` message may still be sent
 * again, since it was not processed, unless Headroom itself refused it. Undefined: the body decides.
 */
function outcomeOfStatus(status) {
  if ([408, 425, 429].includes(status)) return "retry";
  if (status >= 500 && status <= 599) return "unknown";
  return status >= 300 && status <= 499 ? "rejected" : undefined;
}

/** How long the answer asks to wait, in seconds or until a date; undefined if it does not. */
function quietOf(status, headers) {
  const text = headers.get("retry-after")?.trim() ?? "";
  const sentAt = Date.parse(headers.get("date") ?? "") || Date.now();
  const askedMs = /^\d+$/.test(text) ? Number(text) * 1_000 : text.endsWith(" GMT") ? Date.parse(text) - sentAt : NaN;
  if (status !== 429 && (status !== 503 || Number.isNaN(askedMs))) return undefined;
  return Math.min(Math.max(askedMs || 0, retryMs), maxRetryAfterMs);
}

/** The rails' names for a call that brought no answer. */
function codeOfError(error) {
  const code = String(error?.cause?.code ?? "");
  if (error?.name === "TimeoutError") return "timed_out";
  if (code === "ECONNREFUSED") return "connect_refused";
  if (/^(ENOTFOUND|ENODATA|ESERVFAIL|EAI_(AGAIN|FAIL|NODATA|NONAME))$/.test(code)) return "dns_failed";
  if (/^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_)/.test(code)) return "tls_failed";
  if (/^(EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/.test(code))
    return "connect_failed";
  return error?.cause?.name === "HTTPParserError" ? "bad_answer" : "connection_lost";
}

/** Headroom's answers are short; of a longer one only the beginning is read. */
async function textOf(response) {
  const parts = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    parts.push(part);
    bytes += part.length;
    if (bytes > maxAnswerBytes) break;
  }
  return Buffer.concat(parts).toString("utf8");
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Sends a heartbeat. False: the run must stop. If Headroom is briefly unreachable, the work continues. */
async function beat() {
  try {
    const answer = await send("heartbeat", recall("step") ?? {});
    if (!answer.go_on) stop(answer.why);
    return answer.go_on;
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
    // A wrong secret says nothing about the job; a job that does not exist, or belongs to another run, means stop.
    const isOver = ["not_found", "conflict", "gone"].includes(error.code);
    if (isOver) stop(error.message);
    else complain(`${error.message}; the work goes on`);
    return !isOver;
  }
}

/** Remembers that the run must stop, and ends the command of `exec`. Later steps see this and end. */
function stop(why) {
  remember("stopped", clean(why ?? "", 300) || "Headroom gave no reason.");
  const command = recall("exec");
  if (command !== undefined) signalTo(command, "SIGTERM");
}

/** Signals a process that we started and its children, which are its group (Windows has none). */
function signalTo(pid, signal) {
  try {
    process.kill(hasGroups ? -pid : pid, signal);
  } catch {
    // It has ended.
  }
}

// --- the commands

async function start() {
  settings();
  rmSync(fileOf(""), { recursive: true, force: true });
  mkdirSync(fileOf(""), { recursive: true, mode: 0o700 });
  // While it is unknown whether the claim arrived, `finish` reports; after a refusal it does not.
  remember("claim", "unanswered");
  let answer;
  try {
    answer = await send("claim", {});
  } catch (error) {
    if (error instanceof Refused) remember("claim", "refused");
    writeForLaterSteps(process.env.GITHUB_ENV, { HEADROOM_ERROR: cleanError(error.message) });
    throw error;
  }
  if (!answer.go_on) {
    stop(answer.why);
    return stopped();
  }
  const { request_id, size, quantity, region, duration_days, heartbeat_seconds, limit_minutes } = answer.job ?? {};
  // Work that begins without the order would make the wrong thing.
  if (![request_id, size, quantity, region].every((term) => ["string", "number"].includes(typeof term))) {
    remember("claim", "refused");
    throw new Refused("Headroom gave the job without saying what was ordered.");
  }
  const terms = Object.entries({ request_id, size, quantity, region, duration_days })
    .filter(([, value]) => typeof value === "string" || typeof value === "number")
    .map(([name, value]) => [name, clean(value, maxNameChars)]);
  writeForLaterSteps(process.env.GITHUB_OUTPUT, Object.fromEntries(terms));
  const variables = terms.map(([name, value]) => [`HEADROOM_${name.toUpperCase()}`, value]);
  writeForLaterSteps(process.env.GITHUB_ENV, Object.fromEntries(variables));
  remember("claim", { heartbeat_seconds, limit_minutes });
  startHeartbeats();
  say(`this run has the job (${terms.map((pair) => pair.join(" ")).join(", ")})`);
  return 0;
}

function startHeartbeats() {
  const log = openSync(fileOf("heartbeats.log"), "a", 0o600);
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "heartbeats"], {
    detached: true,
    stdio: ["ignore", log, log],
  });
  remember("heartbeats", child.pid);
  child.unref();
}

/** Runs in the background until `finish`, until told to stop, or until the job's limit. */
async function heartbeats() {
  const { heartbeat_seconds: seconds = 60, limit_minutes: minutes = 15 } = recall("claim") ?? {};
  const askedMs = Math.min(Math.max(Number(seconds) || 60, 0.1), 300) * 1000;
  const intervalMs = Number(process.env.HEADROOM_HEARTBEAT_MS) || askedMs;
  const end = Date.now() + (Number(minutes) || 15) * 60_000;
  let next = Date.now() + intervalMs;
  while (Date.now() < end) {
    await sleep(Math.min(1_000, intervalMs));
    // The folder disappears with the job: a killed runner must not seem to be alive.
    if (recall("heartbeats") !== process.pid) return 0;
    if (Date.now() < next) continue;
    next = Date.now() + intervalMs;
    if (!(await beat())) break;
  }
  forget("heartbeats");
  return 0;
}

function endHeartbeats() {
  const pid = recall("heartbeats");
  if (pid === undefined) return;
  forget("heartbeats");
  signalTo(pid, "SIGTERM");
}

async function step(name, percent) {
  if (!name || (percent !== undefined && !/^(\d{1,2}|100)$/.test(percent)))
    throw new Misused('step takes a name and a percentage from 0 to 100: step "Create the machines" 40');
  if (isStopped()) return stopped();
  const progress = percent === undefined ? {} : { progress: Number(percent) };
  remember("step", { step: clean(name, maxNameChars), ...progress });
  say(`step "${name}"`);
  return (await beat()) ? 0 : stopped();
}

function isStopped() {
  if (recall("claim") === undefined) throw new Misused("start has to come first.");
  return recall("stopped") !== undefined;
}

function stopped() {
  say(`this run stops, and reports nothing: ${recall("stopped")}`);
  endHeartbeats();
  return 1;
}

async function exec(separator, command, ...words) {
  if (separator !== "--" || !command)
    throw new Misused("exec takes a command after two dashes: exec -- terraform apply");
  if (isStopped()) return stopped();
  // The command must not see the secret.
  const { HEADROOM_CALLBACK_SECRET: secret, ...env } = process.env;
  const child = spawn(command, words, { stdio: ["inherit", "inherit", "pipe"], env, detached: hasGroups });
  let tail = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    process.stderr.write(text);
    tail = (tail + text).slice(-2 * maxErrorChars);
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => signalTo(child.pid, signal));
  // Processes that it left in the background must not hold up the step.
  child.once("exit", () => setTimeout(() => child.stderr.destroy(), drainMs).unref());
  const ended = new Promise((resolve) => {
    child.once("error", (error) => resolve({ code: 127, problem: `${command} cannot be run: ${error.message}` }));
    child.once("close", (code, signal) => resolve({ code: code ?? 128 + constants.signals[signal] }));
  });
  if (child.pid !== undefined) remember("exec", child.pid);
  // Told to stop in between, before the file existed.
  if (isStopped()) signalTo(child.pid, "SIGTERM");
  const { code, problem } = await ended;
  forget("exec");
  if (isStopped()) return stopped();
  if (code === 0) return 0;
  if (problem !== undefined) complain(problem);
  const lines = (problem ?? tail).trim().split("\n").slice(-maxErrorLines).join("\n").slice(-maxErrorChars);
  const text = cleanError(secret ? lines.replaceAll(secret, "***") : lines) || `The command ended with ${code}.`;
  writeForLaterSteps(process.env.GITHUB_ENV, { HEADROOM_ERROR: text });
  return code;
}

async function finish() {
  endHeartbeats();
  const claim = recall("claim");
  if (recall("stopped") !== undefined) return stopped();
  if (claim === undefined || claim === "refused") return done("this run has no job, so there is nothing to report");
  const result = process.env.HEADROOM_RESULT;
  if (result === "cancelled") return done("the run was cancelled, which is no failure of the job; nothing is reported");
  const signal = result === "success" ? "succeeded" : "failed";
  // Fields without a value are left out of JSON.
  const failure = {
    failed_step: recall("step")?.step,
    error: cleanError(process.env.HEADROOM_ERROR ?? "") || undefined,
  };
  try {
    const { outcome, why } = await send(signal, signal === "failed" ? failure : {});
    if (outcome === "accepted" || outcome === "repeated") return done(`reported that it ${signal}`);
    say(`Headroom did not count that it ${signal}: ${why}`);
    return 1;
  } catch (error) {
    if (!(error instanceof Refused || error instanceof Unreachable)) throw error;
    // Headroom asks GitHub how the run ended. If this step failed, GitHub would call a run that succeeded a failure.
    complain(`${error.message}; Headroom asks GitHub how this run ended`);
    return 0;
  }
}

function done(text) {
  say(text);
  return 0;
}

const [name, ...words] = process.argv.slice(2);
const command = new Map(Object.entries({ start, step, exec, finish, heartbeats })).get(name);
try {
  if (command === undefined) throw new Misused("usage: headroom.mjs start | step | exec | finish");
  process.exitCode = await command(...words);
} catch (error) {
  if (!(error instanceof Refused || error instanceof Unreachable || error instanceof Misused)) throw error;
  complain(error.message);
  process.exitCode = error instanceof Misused ? 2 : 1;
}
