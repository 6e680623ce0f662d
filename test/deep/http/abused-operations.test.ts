import { beforeAll, expect, test } from 'vitest'
import {
  type AbusedOperation,
  abuseAll,
  abusedOperations,
} from '../../support/abused-operations.ts'
import { abuses, brokenOff, placesOfRequest } from '../../support/abusive-http.ts'
import { HeldResources } from '../../support/held-resources.ts'
import { runningService } from '../../support/running-service.ts'

const service = runningService({
  STREAMVAULT_IMPORT_MAX: '1MiB',
  // An operation without a body does not say what it answers to one.
  STREAMVAULT_CHECK_ANSWERS: 'off',
})

/** What a later round may hold more than the one before: the collector comes when it likes. */
const memorySpareBytes = 48 * 1024 * 1024

const rounds = 3

let operations: readonly AbusedOperation[]

beforeAll(async () => {
  operations = await abusedOperations(service)
})

const deeds = [
  ...Object.values(abuses),
  ...Array.from({ length: placesOfRequest }, (_, index) => brokenOff(index + 1, true)),
  ...Array.from({ length: placesOfRequest }, (_, index) => brokenOff(index + 1, false)),
]

test('every operation holds out against everything, at all 20 places, and nothing is left of it', async () => {
  const place = { port: Number(new URL(service.process.http).port), isSecure: false }
  const held = new HeldResources(service.process, service.api)
  const round = async () => {
    for (const how of deeds) {
      await abuseAll(
        place,
        operations.map(({ request }) => ({ request, how })),
      )
    }
  }
  await round()
  const { descriptors } = held
  await held.expectAtRest(descriptors)
  const memory: number[] = []
  for (let count = 0; count < rounds; count++) {
    await round()
    await held.expectAtRest(descriptors)
    memory.push(held.memoryBytes)
  }

  const [first = 0] = memory
  expect((memory.at(-1) ?? 0) - first).toBeLessThan(memorySpareBytes)
}, 1_800_000)
