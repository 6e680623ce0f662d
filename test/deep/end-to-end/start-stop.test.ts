import { describe, test } from 'vitest'
import { startedServices } from '../../support/started-services.ts'
import {
  expectStopBeside,
  expectStopBy,
  expectStopWhileItStarts,
} from '../../support/stopped-services.ts'

const services = startedServices()

/** In cases that test/end-to-end/start-stop.test.ts has not. */
describe('stopping', () => {
  test.each(['SIGINT', 'SIGHUP'] as const)('by %s exits 0', async (signal) => {
    await expectStopBy(services, signal)
  })

  test.each([
    ['that has sent nothing to HTTP', { where: 'http', sent: '' }],
    ['with half a packet to MQTT', { where: 'mqtt', sent: '\x10\x20\x00\x04MQ' }],
  ] as const)('exits 0 within 10 s beside a connection %s', async (_, connection) => {
    await expectStopBeside(services, connection)
  })

  test.each(['SIGINT', 'SIGHUP'] as const)('by %s while it starts exits 0', async (signal) => {
    await expectStopWhileItStarts(services, signal)
  })
})
