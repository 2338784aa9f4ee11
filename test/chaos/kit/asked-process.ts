/**
 * A part outside the product, as a separate process that is never killed: it gets requests by message, and answers.
 *
 * Owns: requests and answers. Does not own: which requests there are.
 */
import { z } from "zod";
import { endWithStarter, sayReady, startProcess } from "./part-process.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- any arguments of an act; both sides are compiled against one list of acts.
type Act = (...args: any[]) => unknown;

export interface AskedProcess<Acts extends Readonly<Record<string, Act>>> {
  readonly url: string;
  ask<Name extends keyof Acts & string>(
    act: Name,
    ...args: Parameters<Acts[Name]>
  ): Promise<Awaited<ReturnType<Acts[Name]>>>;
  close(): Promise<void>;
}

const answerSchema = z.object({ id: z.number(), value: z.unknown().optional(), failed: z.string().optional() });

/** `program` is below test/chaos of the folder whose code is tested. */
export async function startAsked<Acts extends Readonly<Record<string, Act>>>(
  codeDir: string,
  program: string,
  config: object,
): Promise<AskedProcess<Acts>> {
  const started = await startProcess(codeDir, program, config, z.string());
  const { child } = started;
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let next = 1;
  child.on("message", (message) => {
    const { id, value, failed } = answerSchema.parse(message);
    const waits = waiting.get(id);
    waiting.delete(id);
    if (failed === undefined) waits?.resolve(value);
    else waits?.reject(new Error(`${program}: ${failed}`));
  });
  child.once("exit", () => {
    for (const { reject } of waiting.values()) reject(new Error(`${program} is gone`));
  });
  return {
    url: started.ready,
    ask(act, ...args) {
      const id = next++;
      const waits = Promise.withResolvers<unknown>();
      waiting.set(id, waits);
      child.send({ id, act, args });
      // The child answers with what the act returns: both sides are compiled against one list.
      return waits.promise as never;
    },
    close: () => started.kill(),
  };
}

const asked = z.object({ id: z.number(), act: z.string(), args: z.array(z.unknown()) });

/** For the program itself: answers requests, reports its address, and ends with its starter. */
export function answerAsks(acts: Readonly<Record<string, Act>>, url: string): void {
  endWithStarter();
  process.on("message", (message) => void reply(acts, asked.parse(message)));
  sayReady(url);
}

async function reply(acts: Readonly<Record<string, Act>>, { id, act, args }: z.infer<typeof asked>): Promise<void> {
  try {
    const run = Object.hasOwn(acts, act) ? acts[act] : undefined;
    if (run === undefined) throw new TypeError(`there is no ${act}`);
    process.send?.({ id, value: await run(...args) });
  } catch (error) {
    process.send?.({ id, failed: error instanceof Error ? error.message : String(error) });
  }
}
