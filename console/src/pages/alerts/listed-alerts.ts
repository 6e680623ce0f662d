import type { Operations } from '../../../../clients/typescript/call.ts'
import { api } from '../../api/client.ts'
import { failureOf } from '../../api/failure.ts'
import { may } from '../../api/session.ts'

export type Alert = Operations['readAlert']['answer']

/** An alert with the name of its stream, where that is known. */
export interface NamedAlert extends Alert {
  readonly streamName: string | undefined
}

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

const namesKept = new Map<string, string>()
const namesMax = 2_000

/** Alerts name their streams by ids: each name is asked for once. */
export async function withStreamNames(
  alerts: readonly Alert[],
  signal: AbortSignal,
): Promise<readonly NamedAlert[]> {
  const missing = [...new Set(alerts.map(({ streamId }) => streamId))].filter(
    (id) => !namesKept.has(id),
  )
  if (namesKept.size > namesMax) namesKept.clear()
  if (may('streams:read')) {
    for (let at = 0; at < missing.length; at += together) {
      await Promise.all(missing.slice(at, at + together).map((id) => learnName(id, signal)))
    }
  }
  return alerts.map((alert) => ({ ...alert, streamName: namesKept.get(alert.streamId) }))
}

async function learnName(streamId: string, signal: AbortSignal): Promise<void> {
  try {
    const { name } = await api.call('readStream', { path: { streamId }, signal })
    namesKept.set(streamId, name)
  } catch (error) {
    // The stream is gone, and its alerts are still there.
    if (failureOf(error).status !== 404) throw error
  }
}
