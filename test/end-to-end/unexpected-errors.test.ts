import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ApiClient } from '../support/api-client.ts'
import { CommandedService } from '../support/commanded-service.ts'
import {
  type FaultyThread,
  type InjectedFault,
  InjectedFaults,
} from '../support/injected-faults.ts'
import { startedServices } from '../support/started-services.ts'
import { SteadyLoad } from '../support/steady-load.ts'
import { TailClient } from '../support/tail-client.ts'
import { addReceiver, expectStopInOrder, expectStored } from '../support/unexpected-error.ts'

const services = startedServices()
const { newFolder, start } = services

let faults: InjectedFaults

beforeEach(() => {
  faults = new InjectedFaults()
})

afterEach(() => faults[Symbol.dispose]())

describe('an error that nothing was waiting for', () => {
  test.each<[InjectedFault, FaultyThread]>([
    ['throw', 'start'],
    ['reject', 'worker'],
    ['emit', 'delivery-thread'],
  ])('(%s) in %s is logged, and the service stops in order', async (fault, thread) => {
    await expectStopInOrder(services, fault, thread)
  })

  test('in a thread that the service can do without is logged, and the service goes on', async () => {
    const service = await start(newFolder(), faults.environment)
    const api = new ApiClient(service.http)
    const { client, push } = await follow(api)
    await push()
    await client.received(1)

    faults.inject('tail-thread', 'throw')

    await expect.poll(() => service.output()).toContain('injected into tail-thread')
    await push()
    await client.received(2)
    client.close()
    expect(await service.end('SIGTERM')).toBe(0)
  })
})

/** Someone who follows a new stream, and what sends a reading to it. */
async function follow(api: ApiClient) {
  const streamId = await api.createStream()
  const headers = { authorization: `Bearer ${await api.token()}` }
  const url = `${api.base}/streams/${streamId}/tail`
  const client = await TailClient.open('events', { url, headers })
  await client.begun()
  const body = { temperature: 20 }
  const push = async () => await api.withToken('POST', `/streams/${streamId}/data`, body)
  return { client, push }
}

describe('npm start', () => {
  test('under a supervisor comes back after such an error, with all that was acknowledged', async () => {
    // What any supervisor does, and nothing else.
    const loop = 'until npm start; do echo "again after $?"; done'
    const command = await CommandedService.start(loop, newFolder(), faults.environment)
    try {
      const { pid, http, mqtt } = await command.listening()
      const streamId = await new ApiClient(http).createStream()
      const service = { http, mqttPort: Number(new URL(mqtt).port) }
      const load = new SteadyLoad(service, streamId)
      await load.acknowledgedAtLeast(200)

      faults.inject('start', 'throw')

      await command.listening(pid)
      expect(command.output).toContain('again after 1')
      await expectStored(service, streamId, await load.end())
    } finally {
      await command.kill()
    }
  })
})

describe('the service', () => {
  test.each([
    ['is on a full disk', '> /dev/full 2>&1'],
    ['goes to somebody who has left', '2>&1 | head -n 1'],
  ])('goes on while its log %s', async (_, redirection) => {
    // Without npm, which gives up when it cannot write itself.
    const line = `node bin/streamvault.js serve ${redirection}`
    // All of the log goes there, that of threads as well.
    const command = await CommandedService.start(line, newFolder(), {
      STREAMVAULT_LOG_LEVEL: 'trace',
    })
    try {
      const { http } = await command.listening()
      const api = new ApiClient(http)
      const streamId = await api.createStream()
      await api.withToken('POST', `/streams/${streamId}/data`, { temperature: 1 })
      await addReceiver(api)

      expect(await api.settled(streamId, 1)).toMatchObject({ stored: 1 })
    } finally {
      await command.kill()
    }
  })
})
