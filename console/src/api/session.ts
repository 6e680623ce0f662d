import { computed, signal } from '@preact/signals'
import { createClient, type Operations } from '../../../clients/typescript/call.ts'
import { isSignedOut } from './failure.ts'
import { timedFetch } from './service-clock.ts'

export type SessionFacts = Operations['readConsoleSession']['answer']

/** `unknown` until the first answer; `over`: it was signed in, and the page is still there. */
export type SessionState =
  | { readonly is: 'unknown' }
  | { readonly is: 'out' }
  | { readonly is: 'in'; readonly facts: SessionFacts }
  | { readonly is: 'over'; readonly facts: SessionFacts }

const state = signal<SessionState>({ is: 'unknown' })
let waiting: (() => void)[] = []

export const session = computed(() => state.value)

/** What is known of who is signed in, also while the session has to be begun anew. */
export const facts = computed(() =>
  state.value.is === 'in' || state.value.is === 'over' ? state.value.facts : undefined,
)

/** Without the handling of ended sessions, which stands on this. */
const client = createClient({
  headers: { 'x-streamvault-interface': 'bearer' },
  fetch: timedFetch,
})

/** Whether the key of the session has all of these permissions: what it has not is not offered. */
export function may(...scopes: readonly string[]): boolean {
  const granted: readonly string[] = facts.value?.scopes ?? []
  return scopes.every((scope) => granted.includes(scope))
}

/** Finds out who is signed in. @throws ApiFailure for anything else than nobody */
export async function loadSession(): Promise<void> {
  try {
    state.value = { is: 'in', facts: await client.call('readConsoleSession') }
  } catch (error) {
    if (!isSignedOut(error)) throw error
    state.value = { is: 'out' }
  }
}

/** Signs in with a key. The secret is sent, and kept nowhere. @throws ApiFailure */
export async function signIn(apiKey: string, apiSecret: string): Promise<void> {
  const before = facts.peek()
  await client.call('signIn', { body: { apiKey, apiSecret } })
  await loadSession()
  goOnFor(before)
}

/**
 * Looks whether the session is still the one that the page was made for: another tab shares its cookie, and may have
 * ended it, begun it anew, or signed in somebody else. Without an answer nothing changes.
 */
export async function lookAtSession(): Promise<void> {
  const before = facts.peek()
  if (before === undefined) return
  try {
    const now = await client.call('readConsoleSession')
    // Somebody has signed out here while the answer was on its way.
    if (facts.peek() !== before) return
    state.value = { is: 'in', facts: now }
    goOnFor(before)
  } catch (error) {
    if (isSignedOut(error) && facts.peek() === before) state.value = { is: 'over', facts: before }
  }
}

/** Lets calls that wait for a session go on, unless they are those of somebody else. */
function goOnFor(before: SessionFacts | undefined): void {
  if (before !== undefined && before.user.id !== facts.peek()?.user.id) {
    // What is on the page, and what it was about to do, is the other user's: it begins anew.
    waiting = []
    location.reload()
    return
  }
  const released = waiting
  waiting = []
  for (const release of released) release()
}

/** Ends the session, here and at the service. @throws ApiFailure */
export async function signOut(): Promise<void> {
  try {
    await client.call('signOut')
  } catch (error) {
    if (!isSignedOut(error)) throw error
  }
  waiting = []
  state.value = { is: 'out' }
}

/**
 * The session is over: resolves when the same user has signed in over the page. What was still under way when
 * somebody signed out stays undone: the next to sign in may be somebody else.
 */
export async function signedInAgain(): Promise<void> {
  const known = facts.peek()
  state.value = known ? { is: 'over', facts: known } : { is: 'out' }
  const { promise, resolve } = Promise.withResolvers<void>()
  if (known) waiting.push(resolve)
  await promise
}
