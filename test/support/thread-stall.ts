/** Has this thread stand still, as on a machine with others on it: nothing is read meanwhile, and timers are late. */
export function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
