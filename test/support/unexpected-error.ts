import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { ApiClient } from './api-client.ts'
import { type FaultyThread, type InjectedFault, InjectedFaults } from './injected-faults.ts'
import type { ServiceProcess } from './service-process.ts'
import type { StartedServices } from './started-services.ts'
import { SteadyLoad } from './steady-load.ts'

/** A receiver that nobody answers for: the thread that delivers begins with it. */
export async function addReceiver(api: ApiClient): Promise<void> {
  await api.withKey('POST', '/notifications/webhooks', {
    url: 'https://receiver.nowhere.example.com/hook',
    event_types: ['vault.deleted'],
  })
}

/** Expects that all that was acknowledged is stored, once. */
export async function expectStored(
  { http }: Pick<ServiceProcess, 'http'>,
  streamId: string,
  acknowledged: ReadonlySet<number>,
): Promise<void> {
  const api = new ApiClient(http)
  await api.settled(streamId, acknowledged.size)
  const values = (await api.readAll(streamId)).map(({ temperature }) => Number(temperature))
  expect(new Set(values).size).toBe(values.length)
  expect([...acknowledged].filter((value) => !values.includes(value))).toEqual([])
}

/** Expects that a service under load which meets such an error says so, stops in order, and has lost nothing. */
export async function expectStopInOrder(
  { newFolder, launch, start }: StartedServices,
  fault: InjectedFault,
  thread: FaultyThread,
): Promise<void> {
  using faults = new InjectedFaults()
  const folder = newFolder()
  const process = await launch(folder, faults.environment)
  const service = await process.listening()
  const api = new ApiClient(service.http)
  const streamId = await api.createStream()
  await addReceiver(api)
  const load = new SteadyLoad(service, streamId)
  await load.acknowledgedAtLeast(200)

  faults.inject(thread, fault)

  expect(await process.exited).toBe(1)
  const acknowledged = await load.end()
  const line = process
    .output()
    .split('\n')
    .find((text) => text.startsWith('{"level":60,'))
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    msg: 'nothing was waiting for this error: the service stops',
    err: {
      message: `injected into ${thread}`,
      stack: expect.stringContaining('fault-preload.js') as string,
      cause: { message: 'by a test' },
    },
  })
  // Whole databases, and nobody has the folder.
  expect(process.output()).not.toMatch(/stopping (failed|takes too long)/)
  expect(readdirSync(folder).filter((name) => /-(wal|shm)$|\.wal$|^owner/.test(name))).toEqual([])
  await expectStored(await start(folder), streamId, acknowledged)
}
