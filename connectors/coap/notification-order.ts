/** When a notification has come, and its number in 24 bits. */
export interface Numbered {
  readonly number: number
  readonly atMs: number
}

/** A number says nothing after so long: a device may have sent half of all there are meanwhile. */
const comparableMs = 128_000

/** Whether a notification was sent after another one: RFC 7641, section 3.4. */
export function isNewer(one: Numbered, other: Numbered): boolean {
  if (one.atMs > other.atMs + comparableMs) return true
  const ahead = (one.number - other.number) & 0xff_ff_ff
  return ahead > 0 && ahead < 2 ** 23
}
