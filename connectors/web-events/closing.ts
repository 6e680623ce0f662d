import { RetryLater, SourceRefused } from '../../src/contracts/fetch-connector.ts'
import { shown } from '../http-client/shown-text.ts'

/**
 * Somebody has to mend something: RFC 6455, section 7.4.1, and the registry of its codes: what we have sent is not
 * taken, a policy, an extension, nobody allowed (3000, 3003).
 */
const refusals = [1003, 1007, 1008, 1009, 1010, 3000, 3003]

/** Codes from here on mean what the server says that they mean: nothing that passes by itself. */
const ownCodesMin = 4000

/** A server that begins anew, or has too much to do. */
const busy = [1012, 1013]

/** It should not be asked again by everybody at once: within 5 to 30 s, says the registry of 1012. */
const busyMs = { least: 5_000, spread: 25_000 }

/** What it means that a server has closed the connection. */
export function closingOf(code: number, reason: string, secrets: readonly string[]): Error {
  const said = shown(reason, secrets)
  const how = code === 1006 ? 'without saying so' : `${code}${said === '' ? '' : `: ${said}`}`
  const message = `the server has closed the connection (${how})`
  if (refusals.includes(code) || code >= ownCodesMin) return new SourceRefused(message)
  if (!busy.includes(code)) return new Error(message)
  return new RetryLater(message, Math.round(busyMs.least + Math.random() * busyMs.spread))
}

/** Codes of the library for a message that we do not take. */
const largeCodes = ['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH', 'WS_ERR_TOO_MANY_BUFFERED_PARTS']

/** What has ended a connection by itself, in words of somebody who has not read the library. */
export function brokenOf(error: NodeJS.ErrnoException): Error {
  const { code = '', message } = error
  if (largeCodes.includes(code)) {
    return new SourceRefused('a message is larger than 4 MiB, or in too many parts')
  }
  if (code.startsWith('WS_ERR_')) return new Error(`no WebSocket: ${message}`, { cause: error })
  if (/subprotocol/.test(message)) return new SourceRefused(message)
  if (code.startsWith('HPE_')) return new Error(`no answer in HTTP: ${message}`, { cause: error })
  const isLost = code === 'ECONNRESET' || message === 'socket hang up'
  return isLost ? new Error('the connection was lost', { cause: error }) : error
}
