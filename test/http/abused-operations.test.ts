import { beforeAll, describe, expect, test } from 'vitest'
import { type AbusedOperation, abuseAll, abusedOperations } from '../support/abused-operations.ts'
import { abuses, brokenOff, placesOfRequest } from '../support/abusive-http.ts'
import { HeldResources } from '../support/held-resources.ts'
import { runningService } from '../support/running-service.ts'

const service = runningService({
  STREAMVAULT_IMPORT_MAX: '1MiB',
  // An operation without a body does not say what it answers to one.
  STREAMVAULT_CHECK_ANSWERS: 'off',
})

let operations: readonly AbusedOperation[]
let held: HeldResources
let descriptors: number

const place = () => ({ port: Number(new URL(service.process.http).port), isSecure: false })

beforeAll(async () => {
  operations = await abusedOperations(service)
  held = new HeldResources(service.process, service.api)
  // Opens what is opened once, and stays.
  await abuseAll(place(), deedsOf('is left before its answer'))
  descriptors = held.descriptors
})

function deedsOf(name: string) {
  const how = abuses[name]
  if (how === undefined) throw new Error(name)
  return operations.map(({ request }) => ({ request, how }))
}

describe('no operation ends the service, or leaves anything behind, when its request', () => {
  test.each(Object.keys(abuses))('%s', async (name) => {
    await abuseAll(place(), deedsOf(name))

    await held.expectAtRest(descriptors)
  })

  test.each([
    ['reset', true],
    ['closed', false],
  ])('is %s at one of 20 places', async (_, isReset) => {
    const deeds = operations.map(({ request }, index) => ({
      request,
      how: brokenOff(1 + (index % placesOfRequest), isReset),
    }))

    await abuseAll(place(), deeds)

    await held.expectAtRest(descriptors)
  })
})

test('there are as many operations as the document has', () => {
  expect(operations.length).toBeGreaterThan(100)
})
