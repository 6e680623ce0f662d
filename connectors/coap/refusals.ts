import type { ParsedPacket } from 'coap-packet'
import { RetryLater, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { shown } from '../http-client/shown-text.ts'
import { saidMaxAgeOf } from './options.ts'

/** RFC 7252, section 12.1.2, and RFC 8516. */
const names: Readonly<Record<string, string>> = {
  '4.00': 'bad request',
  '4.01': 'unauthorized',
  '4.02': 'bad option',
  '4.03': 'forbidden',
  '4.04': 'not found',
  '4.05': 'method not allowed',
  '4.06': 'not acceptable',
  '4.29': 'too many requests',
  '5.00': 'internal server error',
  '5.01': 'not implemented',
  '5.03': 'service unavailable',
}

/** A device that is asked too often and does not say when to come back. */
const standardWaitMs = 60_000

const waitMsMax = 3_600_000

/** What an answer other than success means for a run. */
export function refusalOf(packet: ParsedPacket): Error {
  const { code, payload } = packet
  const name = names[code]
  const said = shown(payload.toString(), [])
  const message = [
    `the device has answered ${code}`,
    ...(name === undefined ? [] : [`(${name})`]),
  ].join(' ')
  const whole = said === '' ? message : `${message}: ${said}`
  const seconds = saidMaxAgeOf(packet)
  const waitMs = seconds === undefined ? standardWaitMs : Math.min(seconds * 1_000, waitMsMax)
  if (code === '4.29') return new RetryLater(whole, waitMs)
  if (code === '5.03' && seconds !== undefined) return new RetryLater(whole, waitMs)
  return code.startsWith('4.') ? new SourceRefused(whole) : new Error(whole)
}
