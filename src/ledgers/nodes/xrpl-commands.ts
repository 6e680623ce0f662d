import { errorName } from './error-name.ts'
import { leftOut, messageIn } from './node-failure.ts'
import type { Message, Wording } from './wording.ts'

/** Bytes of one answer: pages of the history of an account are the largest. */
const answerBytesMax = 16 * 1024 * 1024

/** The shape of answers that is asked for (https://xrpl.org/docs/references/http-websocket-apis/api-conventions/request-formatting). */
const apiVersion = 2

export interface NodeCall {
  readonly command: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** What a node says to one call: the name of an error is part of the protocol, its words are left out. */
export type NodeAnswer =
  | { readonly result: Readonly<Record<string, unknown>> }
  | { readonly error: string }

/** XRPL has commands of its own over WebSockets, and JSON-RPC over HTTP, which takes one thing at a time. */
export const xrplCommands: Wording<NodeCall, NodeAnswer> = {
  answerBytesMax,
  posted: (calls) =>
    calls.map(({ command, params }) => ({
      body: { method: command, params: [{ ...params, api_version: apiVersion }] },
      answersIn: (said) => {
        const { result } = messageIn(said)
        return [answerOf({ result, ...(result as Message | undefined) })]
      },
    })),
  message: ({ command, params }, id) => ({ ...params, id, command, api_version: apiVersion }),
  answerOf,
}

function answerOf({ error, result }: Message): NodeAnswer {
  if (typeof error === 'string') return { error: errorName(error) }
  if (typeof result !== 'object' || result === null) throw leftOut()
  return { result: result as Message }
}
