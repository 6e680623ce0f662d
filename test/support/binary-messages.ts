import type { Decoder } from '../../src/contracts/reading.ts'

export function hex(text: string): Uint8Array {
  return Buffer.from(text.replaceAll(' ', ''), 'hex')
}

/** @throws Error when the message could not be taken apart */
export function readingsOf(message: ReturnType<Decoder>): readonly unknown[] {
  if (!message.ok) throw new Error(message.problem)
  return message.readings
}
