import { expect, test } from 'vitest'
import { startedServices } from '../support/started-services.ts'

const services = startedServices()

/** How often the log has warned, after these many requests through a proxy, one without, and the end. */
async function warnings(settings: Readonly<Record<string, string>>): Promise<number> {
  const { http, output, end } = await services.start(services.newFolder(), settings)
  for (let count = 0; count < 3; count++) {
    await fetch(`${http}/health/live`, { headers: { 'x-forwarded-for': '198.51.100.7' } })
  }
  await fetch(`${http}/health/live`)
  await end('SIGTERM')
  return output().split('STREAMVAULT_TRUST_PROXY does not name').length - 1
}

test.each([
  ['no proxy is named', {}],
  ['another one is named', { STREAMVAULT_TRUST_PROXY: '192.0.2.1' }],
])('forwarded requests are warned of, once, when %s', async (_, settings) => {
  expect(await warnings(settings)).toBe(1)
})

test('forwarded requests of a proxy that is named are not warned of', async () => {
  expect(await warnings({ STREAMVAULT_TRUST_PROXY: '127.0.0.1' })).toBe(0)
})
