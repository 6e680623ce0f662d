import { leftOut, messageIn } from './node-failure.ts'
import type { Message, Wording } from './wording.ts'

/** Bytes of one answer: logs of many blocks are the largest. */
const answerBytesMax = 32 * 1024 * 1024

export interface RpcCall {
  readonly method: string
  readonly params: readonly unknown[]
}

/** What a node says to one call. The words of an error are left out: they differ from node to node, and nothing depends on them. */
export type RpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly data: unknown } }

/** JSON-RPC 2.0 (https://www.jsonrpc.org/specification): all that is asked at once goes in one request. */
export const jsonRpc: Wording<RpcCall, RpcAnswer> = {
  answerBytesMax,
  posted: (calls) => [{ body: bodyOf(calls), answersIn: (said) => answersIn(said, calls.length) }],
  message: requestOf,
  answerOf,
}

function requestOf({ method, params }: RpcCall, id: number) {
  return { jsonrpc: '2.0', id, method, params }
}

/** Not every node takes a list. */
function bodyOf(calls: readonly RpcCall[]): object {
  const requests = calls.map(requestOf)
  return requests.length === 1 ? (requests[0] as object) : requests
}

/** By the number of the call that they are to: nodes may answer in another order. */
function answersIn(said: unknown, count: number): readonly RpcAnswer[] {
  const all = Array.isArray(said) ? (said as readonly unknown[]) : [said]
  const messages = new Map(all.map(messageIn).map((message) => [message['id'], message]))
  return Array.from({ length: count }, (_, id) => {
    const message = messages.get(id)
    if (message === undefined) throw leftOut()
    return answerOf(message)
  })
}

function answerOf(message: Message): RpcAnswer {
  const error = message['error'] as { code?: unknown; data?: unknown } | undefined | null
  if (error) return { error: { code: Number(error.code), data: error.data } }
  if (message['result'] === undefined) throw leftOut()
  return { result: message['result'] }
}
