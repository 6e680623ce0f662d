import { setTimeout as sleep } from 'node:timers/promises'
import type { UserId } from '../../src/core/ids.ts'
import { Events, type NewEvent } from '../../src/outbox/events/events.ts'
import type { openDeliveryDesk } from '../../src/processes/worker/deliveries.ts'
import { commitChanges, plain } from '../../src/storage/state/database.ts'
import type { Deliverer } from '../../src/telling/delivery/deliverer.ts'
import type { HandClock } from './hand-clock.ts'
import type { TestState } from './test-state.ts'

/** What delivers in one thread, with a clock that is moved by hand. */
export interface LocalParts {
  readonly tests: TestState
  readonly ownerId: UserId
  readonly desk: Awaited<ReturnType<typeof openDeliveryDesk>>
  readonly clock: HandClock
}

/** Something happens: it is told of, to all who want to know. */
export async function happened(
  { tests, ownerId, desk, clock }: LocalParts,
  event: Partial<NewEvent>,
): Promise<void> {
  clock.atUs++
  const resourceId = event.resourceId ?? `vault ${clock.steadyUs()}`
  const changes = new Events(tests.state, clock).record({
    type: 'vault.created',
    ownerId,
    resourceType: 'vault',
    resourceId,
    data: { id: resourceId, name: 'boiler 7' },
    ...event,
  })
  await commitChanges(tests.state, changes.map(plain), desk.fanOut.notify)
}

/**
 * Resolves when nothing is due, and nothing is under way.
 *
 * @param wakeOthers what has to be woken besides what the deliverer looks at by itself
 */
export async function cameToRest(
  { tests, clock }: LocalParts,
  deliverer: Deliverer,
  wakeOthers: () => Promise<void> = async () => undefined,
): Promise<void> {
  for (let attempt = 0; attempt < 2_000; attempt++) {
    deliverer.wake()
    await sleep(2)
    const due = await tests.state
      .selectFrom('deliveries')
      .select('id')
      .where((where) =>
        where.or([where('due_at', '<=', clock.steadyUs()), where('lease', 'is not', null)]),
      )
      .executeTakeFirst()
    if (due === undefined && deliverer.stats().active === 0) return
    await wakeOthers()
  }
  throw new Error('the deliveries do not come to rest')
}
