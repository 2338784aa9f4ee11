/**
 * SIGINT and SIGTERM: the first asks for an orderly end, the second ends at once.
 */

export interface Signals {
  /** Aborted by the first signal. */
  readonly stop: AbortSignal;
  /** Resolves with the first signal. */
  readonly stopped: Promise<void>;
  dispose(): void;
}

export function watchSignals(onFirst: (signal: string) => void): Signals {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  const onSignal = (signal: NodeJS.Signals): void => {
    // The shell's custom: 128 and the number of the signal.
    if (controller.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
    onFirst(signal);
    controller.abort();
    resolve();
  };
  process.on("SIGINT", onSignal);
  process.on("SIGTERM", onSignal);
  return {
    stop: controller.signal,
    stopped: promise,
    dispose() {
      process.off("SIGINT", onSignal);
      process.off("SIGTERM", onSignal);
    },
  };
}
