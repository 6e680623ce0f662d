/** The time so many seconds into a day of which tests have readings. */
export function at(second: number): string {
  return new Date(Date.UTC(2026, 0, 31) + second * 1_000).toISOString()
}
