import type { ShippedReading } from '../shipment.ts'
import { type QuestDbConnection, QuestDbRefusal } from './connection.ts'
import { type RowBuffer, UnfitReading } from './row-buffer.ts'

/** A reading that QuestDB does not take, and what it says about it. */
export interface RefusedReading {
  readonly reading: ShippedReading
  readonly message: string
}

/**
 * Sends rows, and finds those that QuestDB does not take: it refuses a request because of one of them.
 * They were checked long before, so there should be none; but one must not hold up all others.
 *
 * @throws QuestDbAway, or QuestDbRefusal when it is not the rows that are wrong
 */
export async function writeRows(
  connection: QuestDbConnection,
  buffer: RowBuffer,
  readings: readonly ShippedReading[],
): Promise<RefusedReading[]> {
  if (readings.length === 0) return []
  try {
    buffer.reset()
    for (const reading of readings) buffer.push(reading)
    await connection.write(buffer.bytes)
    return []
  } catch (error) {
    if (!(error instanceof UnfitReading || isAboutRows(error))) throw error
    const [reading] = readings
    if (readings.length === 1 && reading) return [{ reading, message: error.message }]
    const middle = Math.ceil(readings.length / 2)
    const before = await writeRows(connection, buffer, readings.slice(0, middle))
    return [...before, ...(await writeRows(connection, buffer, readings.slice(middle)))]
  }
}

/** QuestDB names the line when a row does not fit its table. */
function isAboutRows(error: unknown): error is QuestDbRefusal {
  return (
    error instanceof QuestDbRefusal && error.status === 400 && /"line"\s*:\s*\d/.test(error.message)
  )
}
