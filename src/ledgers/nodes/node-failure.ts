import { messageOf } from '../../core/errors.ts'
import { LedgerUnreachable } from '../ledger.ts'

/** Codes of failures, in words. */
const failures: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the node refuses connections',
  ENOTFOUND: 'the name of the node leads nowhere',
  EAI_AGAIN: 'the name of the node cannot be looked up',
  ECONNRESET: 'the node hangs up',
  UND_ERR_SOCKET: 'the node hangs up',
}

/** Why a node does not answer, in words of our own. */
export function failureOf(error: unknown): LedgerUnreachable {
  if (error instanceof LedgerUnreachable) return error
  const { name, code, cause } = error as { name?: unknown; code?: unknown; cause?: unknown }
  if (name === 'TimeoutError') return tooLate()
  const inner = (cause as { code?: unknown } | undefined)?.code ?? code
  if (typeof inner === 'string' && failures[inner]) return new LedgerUnreachable(failures[inner])
  if (typeof inner === 'string' && /CERT|TLS|SSL/.test(inner)) {
    return new LedgerUnreachable('the certificate of the node is not trusted')
  }
  const status = /Unexpected server response: (\d{3})/.exec(messageOf(error))?.[1]
  return status ? statusOf(status) : new LedgerUnreachable('the node does not answer')
}

export function tooLate(): LedgerUnreachable {
  return new LedgerUnreachable('the node does not answer in time')
}

export function statusOf(status: number | string): LedgerUnreachable {
  return new LedgerUnreachable(`the node answers with the status ${status}`)
}

/** @throws LedgerUnreachable */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new LedgerUnreachable('the answer of the node is not JSON')
  }
}

/** @throws LedgerUnreachable where it is no object */
export function messageIn(said: unknown): Readonly<Record<string, unknown>> {
  if (typeof said === 'object' && said !== null) return said as Readonly<Record<string, unknown>>
  throw new LedgerUnreachable('the answer of the node does not belong to the request')
}

export function leftOut(): LedgerUnreachable {
  return new LedgerUnreachable('the node leaves out what was asked')
}
