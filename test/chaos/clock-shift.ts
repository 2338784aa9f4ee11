/**
 * Puts this process' wall clock off by hours, when it is told so by its environment. The monotonic clock stays right, as
 * on a machine whose date was set wrong.
 *
 * To be imported before everything else.
 */
const shiftMs = Number(process.env["CHAOS_CLOCK_SHIFT_MS"] ?? 0);

if (Number.isFinite(shiftMs) && shiftMs !== 0) {
  const now = Date.now.bind(Date);
  globalThis.Date = new Proxy(Date, {
    get: (target, name, receiver): unknown =>
      name === "now" ? () => now() + shiftMs : Reflect.get(target, name, receiver),
    construct: (target, values: unknown[], newTarget): Date =>
      Reflect.construct(target, values.length === 0 ? [now() + shiftMs] : values, newTarget),
    apply: (target): string => new target(now() + shiftMs).toString(),
  });
}
