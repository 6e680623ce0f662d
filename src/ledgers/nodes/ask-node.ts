import { LedgerUnreachable } from '../ledger.ts'
import { jsonRpc } from './json-rpc.ts'
import { connectionTo } from './node-connection.ts'
import type { Patience, Wording } from './wording.ts'
import { xrplCommands } from './xrpl-commands.ts'

/** Longest answer that is read: what is asked here is far shorter. */
const answerBytesMax = 1024 * 1024

/** A question to a node: parameters of JSON-RPC, a list for EVM and an object for XRPL. */
export interface NodeQuestion {
  readonly method: string
  readonly params: readonly unknown[] | Readonly<Record<string, unknown>>
}

/** A node that was asked, and says that it cannot: `code` is its own word for why. */
export class NodeRefusal extends LedgerUnreachable {
  readonly code: string

  constructor(code: string) {
    super(`the node answers with the error ${code}`)
    this.code = code
  }
}

/**
 * Asks a node one thing, over a connection that is there for this question alone.
 *
 * @throws LedgerUnreachable; NodeRefusal when it answers with an error
 */
export async function askNode(
  endpoint: string,
  { method, params }: NodeQuestion,
  patience: Patience,
): Promise<unknown> {
  return isList(params)
    ? await askOnce({ endpoint, wording: jsonRpc, patience }, { method, params })
    : await askOnce({ endpoint, wording: xrplCommands, patience }, { command: method, params })
}

function isList(params: NodeQuestion['params']): params is readonly unknown[] {
  return Array.isArray(params)
}

interface Asking<Call, Answer> {
  readonly endpoint: string
  readonly wording: Wording<Call, Answer>
  readonly patience: Patience
}

async function askOnce<Call, Answer extends object>(
  { endpoint, wording, patience }: Asking<Call, Answer>,
  call: Call,
): Promise<unknown> {
  const connection = connectionTo(endpoint, { ...wording, answerBytesMax })
  try {
    const [answer] = await connection.ask([call], patience)
    return resultIn({ ...answer })
  } finally {
    connection.close()
  }
}

function resultIn({ error, result }: { readonly error?: unknown; readonly result?: unknown }) {
  const refused = codeOf(error) ?? codeOf((result as { error?: unknown } | null | undefined)?.error)
  if (refused !== undefined) throw new NodeRefusal(refused)
  return result
}

/** A number of JSON-RPC, or a word of XRPL; the text beside it is left out. */
function codeOf(error: unknown): string | undefined {
  if (error === undefined || error === null) return undefined
  const code = typeof error === 'object' ? (error as { code?: unknown }).code : error
  return /^-?\w{1,40}$/.test(String(code)) ? String(code) : 'without a code'
}
