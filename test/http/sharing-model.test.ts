import { rmSync } from 'node:fs'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { templateFor } from '../support/asset-streams.ts'
import { newDataDir, type ServiceProcess, startServiceProcess } from '../support/service-process.ts'
import { SettableClock } from '../support/settable-clock.ts'
import { sharingDeed } from '../support/sharing-deeds.ts'
import { SharingWorld } from '../support/sharing-world.ts'

const clock = new SettableClock()
let service: ServiceProcess
let api: ApiClient
let templateId: string

beforeAll(async () => {
  service = await startServiceProcess(newDataDir(), clock.environment)
  api = new ApiClient(service.http)
  templateId = await templateFor(api)
})

afterAll(async () => {
  await service.end('SIGTERM')
  rmSync(service.dataDir, { recursive: true })
  clock[Symbol.dispose]()
})

test('each of three people sees and does just what the model says, after any deeds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(sharingDeed, { minLength: 12, maxLength: 40 }), async (deeds) => {
      const world = await SharingWorld.of({ api, clock, templateId })
      for (const [at, deed] of deeds.entries()) {
        await world.do(deed)
        if (at % 8 === 7) await world.look()
      }
      await world.look()

      expect(world.differences).toEqual([])
    }),
    { numRuns: 8, endOnFailure: true },
  )
}, 120_000)
