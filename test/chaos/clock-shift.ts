/**
 * Puts this process' wall clock off. The monotonic clock stays right, as on a machine whose date was set wrong.
 */
export function shiftClock(shiftMs: number): void {
  if (shiftMs === 0) return;
  const now = Date.now.bind(Date);
  globalThis.Date = new Proxy(Date, {
    get: (target, name, receiver): unknown =>
      name === "now" ? () => now() + shiftMs : Reflect.get(target, name, receiver),
    construct: (target, values: unknown[], newTarget): Date =>
      Reflect.construct(target, values.length === 0 ? [now() + shiftMs] : values, newTarget),
    apply: (target): string => new target(now() + shiftMs).toString(),
  });
}
