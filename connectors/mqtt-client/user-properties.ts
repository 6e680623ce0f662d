import { isUtf8 } from 'node:buffer'

/** Identifiers of properties that a PUBLISH may have (MQTT 5, table 2-4), with the bytes of a value of a fixed length. */
const fixedBytes: ReadonlyMap<number, number> = new Map([
  // Payload format indicator, message expiry interval, topic alias.
  [0x01, 1],
  [0x02, 4],
  [0x23, 2],
])

/** Content type, response topic, correlation data: a length of two bytes, and as many bytes. */
const textIds: readonly number[] = [0x03, 0x08, 0x09]

const subscriptionId = 0x0b
const userPropertyId = 0x26

/**
 * The user properties of a PUBLISH of MQTT 5 (section 3.3.2.3.7), with their names in lower case. What stands behind
 * something that no broker may send is left out: the message itself is whole.
 */
export function* userProperties(bytes: Buffer): Generator<readonly [string, string]> {
  let at = 0
  while (at < bytes.length) {
    const id = bytes[at++] as number
    const fixed = fixedBytes.get(id)
    if (fixed !== undefined) at += fixed
    else if (id === subscriptionId) at = afterNumber(bytes, at)
    else if (textIds.includes(id)) at = textAt(bytes, at)?.end ?? bytes.length
    else if (id === userPropertyId) {
      const name = textAt(bytes, at)
      const value = name && textAt(bytes, name.end)
      if (name === undefined || value === undefined) return
      at = value.end
      const isReadable = isUtf8(name.bytes) && isUtf8(value.bytes)
      if (isReadable) yield [name.bytes.toString().toLowerCase(), value.bytes.toString()]
    } else return
  }
}

function textAt(bytes: Buffer, at: number): { bytes: Buffer; end: number } | undefined {
  if (at + 2 > bytes.length) return undefined
  const end = at + 2 + bytes.readUInt16BE(at)
  return end > bytes.length ? undefined : { bytes: bytes.subarray(at + 2, end), end }
}

/** Behind a number of one to four bytes, each of which says whether another one comes. */
function afterNumber(bytes: Buffer, at: number): number {
  let after = at
  while (after < bytes.length && (bytes[after] as number) >= 0x80) after++
  return after + 1
}
