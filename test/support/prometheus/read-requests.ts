import type { Records } from '../../../processors/records.ts'
import { type RemoteWrite, remoteWriteRecords } from '../../../processors/remote-write.ts'
import { snapped, staleMarker, writeRequest, writeRequest2 } from './remote-write-bodies.ts'

/** How requests of each version are written. */
export const versions = [
  ['1.0', writeRequest],
  ['2.0', writeRequest2],
] as const

export const up = ['__name__', 'up'] as const

/** What is in a body. @throws Error when it is refused */
export function sent(body: Uint8Array): RemoteWrite {
  const found = remoteWriteRecords(body)
  if (!found.ok) throw new Error(found.problem)
  return found
}

/** The records of a request, before it is compressed. @throws Error when it is refused */
export function recordsOf(content: Uint8Array): Records {
  return sent(snapped(content)).records
}

/** What is wrong with a request. */
export function problemOf(content: Uint8Array): string {
  const found = remoteWriteRecords(snapped(content))
  return found.ok ? 'no problem' : found.problem
}

/** What is wrong with its first series. */
export function refusalOf(content: Uint8Array): string {
  const [record] = recordsOf(content)
  return record !== undefined && 'problem' in record ? record.problem : 'not refused'
}

/** A value that is written where a series ends. */
export const lastValue = 1.25

/** A request in which series end: the encoder has no number for that. */
export function ended(content: Uint8Array): Uint8Array {
  const bytes = Buffer.from(content)
  const value = Buffer.alloc(8)
  value.writeDoubleLE(lastValue)
  for (let at = bytes.indexOf(value); at >= 0; at = bytes.indexOf(value, at)) {
    staleMarker.copy(bytes, at)
  }
  return bytes
}
