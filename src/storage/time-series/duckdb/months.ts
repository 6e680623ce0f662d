/** Year and month of an instant in UTC, for example 202611. */
export function monthOf(timestampUs: number): number {
  const date = new Date(timestampUs / 1000)
  return date.getUTCFullYear() * 100 + date.getUTCMonth() + 1
}

/** The first instant of a month as `monthOf` writes it; 202613 is the January after. */
export function startOfMonthUs(month: number): number {
  const date = new Date(0)
  date.setUTCFullYear(Math.floor(month / 100), (month % 100) - 1, 1)
  return date.getTime() * 1000
}
