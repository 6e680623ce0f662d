/**
 * JSON with sorted keys and no white space: equal values have equal text.
 *
 * Numbers use the shortest text that reads back as the same double, and -0 is 0. Written by hand
 * and not with an object that is filled and stringified, because a key may be `__proto__`.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'number') return canonicalNumber(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  const members = Object.entries(value)
    .sort(([left], [right]) => compareText(left, right))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`)
  return `{${members.join(',')}}`
}

export function canonicalNumber(value: number): string {
  return value === 0 ? '0' : `${value}`
}

/** Order by UTF-16 code units: the same on every machine, unlike a locale's. */
export function compareText(left: string, right: string): number {
  if (left === right) return 0
  return left < right ? -1 : 1
}
