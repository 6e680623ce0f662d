import { createHash } from 'node:crypto'
import type { Selectable } from 'kysely'
import type { AlertId } from '../core/ids.ts'
import type { StateSchema } from '../storage/state/schema.ts'

/** States that an alert can be in as others see it: a rule that is ok has none. */
export const alertStates = ['pending', 'firing', 'acknowledged', 'cleared'] as const

/** Kinds of things that somebody can do to an alert. */
export const actionKinds = ['acknowledge', 'comment', 'mute', 'unmute', 'clear'] as const

export type ActionKind = (typeof actionKinds)[number]

/** What somebody does to an alert, as its entry in the journal has it. */
export interface AlertAction {
  /** The id of the request, so that its answer can tell whether it was done. */
  readonly id: string
  readonly kind: ActionKind
  readonly alertId: string
  readonly ruleId: string
  readonly userId: string
  readonly apiKeyId: string
  readonly comment?: string
  /** When a mute ends. */
  readonly untilUs?: number
}

export type AlertRow = Selectable<StateSchema['alerts']>

export type HistoryRow = Selectable<StateSchema['alert_history']>

/**
 * The id of the alert that a rule begins at an entry. It follows from these alone, so that a journal that
 * is played once more makes the same alerts.
 */
export function alertIdOf(streamId: string, ruleId: string, offset: number): AlertId {
  const digest = createHash('sha256').update(`${streamId} ${offset} ${ruleId}`).digest()
  // RFC 9562, version 8: what the bits are is up to us.
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x80
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80
  const hex = digest.toString('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20)]
  return [...parts, hex.slice(20, 32)].join('-') as AlertId
}
