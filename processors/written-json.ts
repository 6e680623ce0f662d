import { isObject } from '../src/contracts/definitions/field-map.ts'

/**
 * JSON of a part of a message. Numbers that JSON cannot write have the words that programs write for them: NaN and
 * Infinity, which are refused again, or stand for none by then.
 *
 * @param sources the same part, with the digits that numbers were sent with in their places
 */
export function writtenJson(value: unknown, sources?: unknown): string {
  if (typeof value === 'number') return writtenNumber(value, sources)
  if (Array.isArray(value)) {
    const own: readonly unknown[] = Array.isArray(sources) ? sources : []
    return `[${value.map((one: unknown, index) => writtenJson(one, own[index])).join(',')}]`
  }
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const own = isObject(sources) ? sources : {}
  const members = Object.keys(value).map((name) => {
    const source = Object.hasOwn(own, name) ? own[name] : undefined
    return `${JSON.stringify(name)}:${writtenJson(value[name], source)}`
  })
  return `{${members.join(',')}}`
}

function writtenNumber(value: number, source: unknown): string {
  return typeof source === 'string' && Number(source) === value ? source : String(value)
}
