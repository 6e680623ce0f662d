import { changesBetween } from '../../core/changes-between.ts'

/** Signs that devices and data sheets write, with the name that the library has. Some mean another unit there. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['c', 'degC'],
  ['°c', 'degC'],
  ['ºc', 'degC'],
  ['oc', 'degC'],
  ['℃', 'degC'],
  ['deg', 'degC'],
  ['centigrade', 'degC'],
  ['f', 'degF'],
  ['°f', 'degF'],
  ['ºf', 'degF'],
  ['℉', 'degF'],
  ['°k', 'K'],
  ['degk', 'K'],
  ['kph', 'km/h'],
  ['kmh', 'km/h'],
  ['kmph', 'km/h'],
  ['mph', 'mi/h'],
  ['mps', 'm/s'],
  ['°', 'deg'],
  ['ω', 'ohm'],
  ['µs', 'us'],
  ['m³', 'm^3'],
  ['m²', 'm^2'],
])

/** Names with a prefix, which the library puts together by itself and has in no list. */
const usual = ['km', 'cm', 'mm', 'kPa', 'hPa', 'mbar', 'kWh', 'MWh', 'kW', 'MW', 'kg', 'mg', 'ml']
const electrical = ['mV', 'kV', 'mA', 'kHz', 'MHz', 'mohm', 'kohm', 'km/h', 'm/s', 'mi/h', 'ms']

/** Longer names are sentences, and not misspelt. */
const lengthMax = 20

/** Shorter names are near to too many others. */
const lengthMin = 4

/**
 * The unit that was meant by a name that is none, or by one that means something else.
 *
 * @param names those that the library has
 */
export function meantUnit(name: string, names: readonly string[]): string | undefined {
  const alias = aliases.get(name.toLowerCase())
  if (alias !== undefined) return alias
  if (name.length > lengthMax) return undefined
  const known = [...names, ...usual, ...electrical]
  const inOtherCase = known.find((one) => one.toLowerCase() === name.toLowerCase())
  if (inOtherCase !== undefined && inOtherCase !== name) return inOtherCase
  if (name.length < lengthMin) return undefined
  const [nearest] = known
    .map((one) => ({ one, changes: changesBetween(name, one) }))
    .filter(({ one, changes }) => changes > 0 && changes <= one.length / 4)
    .toSorted((first, second) => first.changes - second.changes)
  return nearest?.one
}
