import type { StreamVersion } from '../contracts/reading.ts'
import type { Clock } from '../core/clock.ts'
import { DomainError } from '../core/errors.ts'
import type { StreamId } from '../core/ids.ts'
import { notFound } from '../core/not-found.ts'
import type { GroupCommit } from '../ingest/pipeline/group-commit.ts'
import type { ActionKind, AlertAction, AlertRow } from './alert.ts'
import type { AlertStore } from './alert-store.ts'

/** Times that the decider is waited for, some seconds each. */
const waitsMax = 5

export interface AlertActionsNeeds {
  readonly alerts: AlertStore
  readonly entries: Pick<GroupCommit, 'add' | 'assertReady'>
  readonly directory: { find(id: StreamId): Promise<StreamVersion | undefined> }
  readonly processing: {
    /** Waits, within bounds, until what is acknowledged by now is decided; whether it was. */
    caughtUp(): Promise<boolean>
  }
  readonly clock: Clock
}

/**
 * What people do to alerts. It is an entry of the journal and nothing else, so that a replay does
 * it at the same place (decisions.md#the-time-of-alerts); the decider makes it so.
 */
export class AlertActions {
  readonly #needs: AlertActionsNeeds

  constructor(needs: AlertActionsNeeds) {
    this.#needs = needs
  }

  /**
   * Resolves once it is done. The same action again does nothing.
   *
   * @throws DomainError `wrong_alert_state` when the alert does not allow it, or does so no more;
   *   `not_found` when its stream is gone; `overloaded`, or why the journal takes nothing
   */
  async act(alert: AlertRow, action: AlertAction): Promise<void> {
    const { alerts } = this.#needs
    if (await alerts.wasDone(alert.id, action.id)) return
    assertAllowed(alert, action.kind)
    await this.#keep(alert, action)
    await this.#decided()
    if (await alerts.wasDone(alert.id, action.id)) return
    throw wrongState('the alert has changed meanwhile')
  }

  async #keep(alert: AlertRow, action: AlertAction): Promise<void> {
    const { directory, entries, clock } = this.#needs
    entries.assertReady()
    // Nothing may come into a stream that was deleted: it is found and written to in one turn.
    const stream = await directory.find(alert.stream_id as StreamId)
    if (!stream) throw notFound('alert', alert.id)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    entries.add(
      (writer) => writer.alertAction(stream, action, clock.nowUs()),
      (error) => (error === undefined ? resolve() : reject(error)),
    )
    await promise
  }

  async #decided(): Promise<void> {
    for (let wait = 0; wait < waitsMax; wait++) {
      if (await this.#needs.processing.caughtUp()) return
    }
    const message = 'it is written down, and will be done when what came before is'
    throw new DomainError('overloaded', message, { retryAfter: 5 })
  }
}

/**
 * States of alerts in which each action is allowed: pending alerts are nobody's matter yet, and
 * cleared ones no longer.
 */
const allowedIn: Readonly<Record<ActionKind, readonly string[]>> = {
  acknowledge: ['firing'],
  clear: ['firing', 'acknowledged'],
  mute: ['pending', 'firing', 'acknowledged'],
  unmute: ['pending', 'firing', 'acknowledged'],
  comment: ['pending', 'firing', 'acknowledged'],
}

function assertAllowed({ state }: AlertRow, kind: ActionKind): void {
  const allowed = allowedIn[kind]
  if (allowed.includes(state)) return
  throw wrongState(`the alert is ${state}; to ${kind} it, it has to be ${allowed.join(' or ')}`)
}

function wrongState(message: string): DomainError {
  return new DomainError('wrong_alert_state', message)
}
