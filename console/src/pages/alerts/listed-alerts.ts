import type { Operations } from '../../../../clients/typescript/call.ts'
import { api } from '../../api/client.ts'
import { failureOf } from '../../api/failure.ts'
import { useResource } from '../../api/resource.ts'
import { may } from '../../api/session.ts'

export type Alert = Operations['readAlert']['answer']

export const alertStates = ['firing', 'acknowledged', 'pending', 'cleared'] as const
export const severities = ['critical', 'warning', 'info'] as const

/** The choice that a text stands for; of what is none, no filter is made. */
export function choiceOf<Choice extends string>(
  choices: readonly Choice[],
  text: string,
): Choice | undefined {
  return choices.find((choice) => choice === text)
}

/** Names that are asked for at once. */
const together = 10

/** Streams that are gone have none. */
const namesKept = new Map<string, string | undefined>()
const namesMax = 2_000

/** Alerts name their streams by ids: each name is asked for once, while the alerts are shown already. */
export function useStreamNames(
  streamIds: readonly string[],
): ReadonlyMap<string, string | undefined> {
  const wanted = [...new Set(streamIds)].toSorted()
  const names = useResource((signal) => namesOf(wanted, signal), [wanted])
  return names.data ?? namesKept
}

async function namesOf(streamIds: readonly string[], signal: AbortSignal) {
  if (!may('streams:read')) return new Map<string, string | undefined>()
  const missing = streamIds.filter((id) => !namesKept.has(id))
  if (namesKept.size > namesMax) namesKept.clear()
  for (let at = 0; at < missing.length; at += together) {
    await Promise.all(missing.slice(at, at + together).map((id) => learnName(id, signal)))
  }
  return new Map(streamIds.map((id) => [id, namesKept.get(id)]))
}

async function learnName(streamId: string, signal: AbortSignal): Promise<void> {
  try {
    const { name } = await api.call('readStream', { path: { streamId }, signal })
    namesKept.set(streamId, name)
  } catch (error) {
    // The stream is gone, and its alerts are still there.
    if (failureOf(error).status !== 404) throw error
    namesKept.set(streamId, undefined)
  }
}
