/** A reading that waits in a queue, as JSON. */
export function waitingReading(number: number): Buffer {
  const timestamp = new Date(Date.UTC(2026, 0, 1) + number).toISOString()
  return Buffer.from(JSON.stringify({ number, timestamp, level: number % 100, note: 'pump 7' }))
}
