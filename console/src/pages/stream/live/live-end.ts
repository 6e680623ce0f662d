/**
 * The time at the right end of a live chart. It is now, so that silence is seen as a gap that grows; where the
 * newest reading lies outside of what would be shown (the clock of its device is another one, or it is long
 * ago), it is the time of that reading.
 */
export function liveEndMs(newestMs: number, nowMs: number, windowMs: number): number {
  if (!Number.isFinite(newestMs)) return nowMs
  return newestMs > nowMs || newestMs < nowMs - windowMs ? newestMs : nowMs
}
