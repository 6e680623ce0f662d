const nobody = new Int32Array(new SharedArrayBuffer(4))

/**
 * Blocks the calling thread, for work in the background that leaves processor and disk to others in
 * between. For threads and processes that serve nobody else.
 *
 * @param ms none or less is no rest
 */
export function rest(ms: number): void {
  if (ms > 0) Atomics.wait(nobody, 0, 0, ms)
}
