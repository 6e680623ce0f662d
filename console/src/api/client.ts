import {
  type Client,
  createClient,
  newIdempotencyKey,
  type OperationId,
  type Operations,
  type OperationsByKey,
} from '../../../clients/typescript/call.ts'
import { noteCutOff, noteReached } from './connection.ts'
import { isCutOff, isSignedOut } from './failure.ts'
import { timedFetch } from './service-clock.ts'
import { signedInAgain } from './session.ts'

/**
 * Calls operations of data streams, queries and all else as the interface of bearer tokens has them.
 * The cookie says who asks, a header which interface is spoken.
 */
export const api: Client<Operations> = throughSession(
  createClient({
    interface: 'bearer',
    headers: { 'x-streamvault-interface': 'bearer' },
    fetch: timedFetch,
  }),
)

/** Calls operations as the interface of keys has them: asset streams, and lists with pages. */
export const keyApi: Client<OperationsByKey> = throughSession(
  createClient({
    interface: 'header-key',
    headers: { 'x-streamvault-interface': 'header-key' },
    fetch: timedFetch,
  }),
)

interface AnyInput {
  readonly idempotencyKey?: string
  readonly signal?: AbortSignal
}

type AnyCall = (id: OperationId, asked?: AnyInput) => Promise<unknown>

/**
 * The same client, for a page that stays: when the session is over, a call waits until somebody has
 * signed in over the page, and goes on. Nothing that was typed is lost.
 */
function throughSession<Known>(client: Client<Known>): Client<Known> {
  const lasting =
    (send: AnyCall): AnyCall =>
    async (id, asked) => {
      const input = asked ?? {}
      // One key for all tries: a POST whose answer was lost is not done twice.
      const keyed = { ...input, idempotencyKey: input.idempotencyKey ?? newIdempotencyKey() }
      for (;;) {
        try {
          const answer = await send(id, keyed)
          noteReached()
          return answer
        } catch (error) {
          if (input.signal?.aborted === true) throw error
          if (isCutOff(error)) noteCutOff(undefined)
          else noteReached()
          if (!isSignedOut(error)) throw error
          await signedInAgain()
        }
      }
    }
  const { call, callRaw, open } = client as unknown as Readonly<
    Record<'call' | 'callRaw' | 'open', AnyCall>
  >
  const wrapped = { call: lasting(call), callRaw: lasting(callRaw), open: lasting(open) }
  return wrapped as unknown as Client<Known>
}
