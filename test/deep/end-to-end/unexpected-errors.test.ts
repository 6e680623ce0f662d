import { describe, test } from 'vitest'
import type { FaultyThread, InjectedFault } from '../../support/injected-faults.ts'
import { startedServices } from '../../support/started-services.ts'
import { expectStopInOrder } from '../../support/unexpected-error.ts'

const services = startedServices()

/** Faults that test/end-to-end/unexpected-errors.test.ts leaves out. */
describe('an error that nothing was waiting for', () => {
  test.each<[InjectedFault, FaultyThread]>([
    ['reject', 'start'],
    ['emit', 'start'],
    ['throw', 'worker'],
    ['throw', 'journal-thread'],
    ['reject', 'sessions-thread'],
  ])('(%s) in %s is logged, and the service stops in order', async (fault, thread) => {
    await expectStopInOrder(services, fault, thread)
  })
})
