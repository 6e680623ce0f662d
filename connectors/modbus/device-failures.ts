import { SourceRefused } from '../../src/contracts/fetch-connector.ts'
import type { PlannedRead } from './read-plan.ts'

/** Fields that a message names at most. */
const namedMax = 5

/** Exception codes (Modbus Application Protocol V1.1b3, section 7). */
const exceptions: ReadonlyMap<unknown, string> = new Map([
  [1, 'illegal function'],
  [2, 'illegal data address'],
  [3, 'illegal data value'],
  [4, 'server device failure'],
  [5, 'acknowledge: it needs more time'],
  [6, 'server device busy'],
  [8, 'memory parity error'],
  [10, 'gateway path unavailable'],
  [11, 'gateway target device failed to respond'],
])

/** These say that there is nothing of that kind at that place: somebody has to mend the definition. */
const lasting: readonly unknown[] = [1, 2, 3]

/** What became of a request, as an error for people. */
export function failureOf(error: unknown, read: PlannedRead): unknown {
  const { message, modbusCode } = error as { message?: string; modbusCode?: number }
  if (modbusCode === undefined) {
    if (message === undefined) return error
    return error instanceof Error ? error : new Error(message)
  }
  const said = exceptions.get(modbusCode) ?? `exception ${modbusCode}`
  const text = `the device does not give ${described(read)}: ${said}`
  return lasting.includes(modbusCode) ? new SourceRefused(text) : new Error(text)
}

function described({ unitId, kind, address, count, items }: PlannedRead): string {
  const fields = items.slice(0, namedMax).map(({ field }) => field)
  if (items.length > namedMax) fields.push('...')
  const place = count === 1 ? address : `${address} to ${address + count - 1}`
  return `${kind} ${place} of unit ${unitId} (${fields.join(', ')})`
}
