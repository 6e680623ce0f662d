import { parsePath } from '../../src/contracts/path.ts'
import { finderOf } from './finder.ts'
import { messageItem } from './item.ts'

/** The name of the device in a reading; undefined where there is none. */
export type DeviceNamed = (reading: object) => string | undefined

/**
 * Finds the name of the device in a reading: in the member of this name, or else at the path that it is. A whole
 * number is a name as well.
 *
 * @param deviceField undefined: readings name no device
 */
export function deviceNamed(deviceField: string | undefined): DeviceNamed {
  if (deviceField === undefined) return () => undefined
  const path = parsePath(deviceField)
  const find = 'problem' in path ? () => undefined : finderOf(path)
  return (reading) => {
    const value = Object.hasOwn(reading, deviceField)
      ? (reading as Readonly<Record<string, unknown>>)[deviceField]
      : find(messageItem(reading), {})
    if (typeof value === 'string') return value
    return Number.isSafeInteger(value) ? String(value) : undefined
  }
}
